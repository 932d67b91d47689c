// value.hpp — a named value of a failed check, taken at the call and turned into text only when a report is written.
// Laws:    none
// Threads: a Value belongs to the thread whose check failed
// Cancel:  not applicable
#pragma once

#include <cstddef>
#include <type_traits>

namespace calm::check {

class Text;

/// What `name = text` is made from. Numbers, enums and pointers are copied in; objects are referred to and must outlive
/// the report.
struct Value {
  const char* name;
  void (*print)(Text&, const Value&) noexcept;
  union {
    unsigned long long bits;  // integers, enums and addresses
    double real;
    const char* characters;
    const void* object;
  };
  std::size_t size;  // of characters: how many may be read
};

namespace detail {

void print_signed(Text& text, const Value& value) noexcept;
void print_unsigned(Text& text, const Value& value) noexcept;
void print_float(Text& text, const Value& value) noexcept;
void print_double(Text& text, const Value& value) noexcept;
void print_address(Text& text, const Value& value) noexcept;
void print_characters(Text& text, const Value& value) noexcept;  // up to the first zero or `size`
void print_nothing(Text& text, const Value& value) noexcept;     // <not printable>

void put_quoted(Text& text, const char* characters, std::size_t size) noexcept;
void put_plain(Text& text, const char* characters, std::size_t size) noexcept;
void put_plain(Text& text, const char* zero_terminated) noexcept;

inline constexpr std::size_t until_zero = static_cast<std::size_t>(-1);

void to_string() = delete;  // hides every to_string of the enclosing namespaces: only one found by argument counts

template <class T>
concept Characters = requires(const T& object) {
  requires std::is_convertible_v<decltype(object.data()), const char*>;
  static_cast<std::size_t>(object.size());
};

template <class T>
concept HasToString = requires(const T& object) {
  requires Characters<std::remove_cvref_t<decltype(to_string(object))>> ||
               std::is_convertible_v<decltype(to_string(object)), const char*>;
};

template <class T>
void put_to_string(Text& text, const T& object) {
  const auto& shown = to_string(object);
  if constexpr (Characters<std::remove_cvref_t<decltype(shown)>>) {
    put_plain(text, shown.data(), static_cast<std::size_t>(shown.size()));
  } else {
    put_plain(text, shown);
  }
}

template <class T>
void print_enum(Text& text, const Value& value) noexcept {
  try {
    put_to_string(text, static_cast<T>(static_cast<std::underlying_type_t<T>>(value.bits)));
  } catch (...) {  // a report must come out, whatever its values do
    put_plain(text, "<to_string failed>");
  }
}

template <class T>
void print_object(Text& text, const Value& value) noexcept {
  const T& object = *static_cast<const T*>(value.object);
  try {
    if constexpr (Characters<T>) {
      put_quoted(text, object.data(), static_cast<std::size_t>(object.size()));
    } else {
      put_to_string(text, object);
    }
  } catch (...) {
    put_plain(text, "<to_string failed>");
  }
}

/// How a value travels from a check to its report: a scalar as itself, since a reference to a local variable would keep
/// it out of its register even while the check passes; the rest by address.
template <class T>
struct Object {
  const T* address;
};
struct CharArray {
  const char* characters;
  std::size_t size;
};

template <class T>
concept Scalar = !std::is_class_v<T> && !std::is_union_v<T>;

template <class T>
  requires(!Scalar<T>)
[[gnu::always_inline]] constexpr Object<T> pass(const T& object) noexcept {
  return {__builtin_addressof(object)};
}

template <std::size_t size>
[[gnu::always_inline]] constexpr CharArray pass(const char (&characters)[size]) noexcept {
  return {characters, size};
}

template <Scalar T>
[[gnu::always_inline]] constexpr T pass(T item) noexcept {
  return item;
}

template <class T>
Value value_of(const char* name, Object<T> item) noexcept {
  if constexpr (Characters<T> || HasToString<T>) {
    return {.name = name, .print = print_object<T>, .object = item.address, .size = 0};
  } else {
    return {.name = name, .print = print_nothing, .bits = 0, .size = 0};
  }
}

inline Value value_of(const char* name, CharArray item) noexcept {
  return {.name = name, .print = print_characters, .characters = item.characters, .size = item.size};
}

template <Scalar T>
Value value_of(const char* name, T item) noexcept {
  if constexpr (std::is_enum_v<T> && HasToString<T>) {
    return {.name = name, .print = print_enum<T>, .bits = static_cast<unsigned long long>(item), .size = 0};
  } else if constexpr (std::is_enum_v<T>) {
    return value_of(name, static_cast<std::underlying_type_t<T>>(item));
  } else if constexpr (std::is_integral_v<T> && sizeof(T) <= sizeof(unsigned long long)) {
    return {.name = name,
            .print = std::is_signed_v<T> ? print_signed : print_unsigned,
            .bits = static_cast<unsigned long long>(item),
            .size = 0};
  } else if constexpr (std::is_same_v<T, float>) {
    return {.name = name, .print = print_float, .real = static_cast<double>(item), .size = 0};
  } else if constexpr (std::is_floating_point_v<T>) {
    return {.name = name, .print = print_double, .real = static_cast<double>(item), .size = 0};
  } else if constexpr (std::is_convertible_v<T, const char*> && std::is_pointer_v<T>) {
    return {.name = name, .print = print_characters, .characters = item, .size = until_zero};
  } else if constexpr (std::is_pointer_v<T> || std::is_null_pointer_v<T>) {
    return {.name = name, .print = print_address, .bits = reinterpret_cast<unsigned long long>(item), .size = 0};
  } else {
    return {.name = name, .print = print_nothing, .bits = 0, .size = 0};
  }
}

}  // namespace detail
}  // namespace calm::check
