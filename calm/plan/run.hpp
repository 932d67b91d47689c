// run.hpp — runs a plan: join, race and timeout of the tree become those of calm, leaves become the work that was given.
// Laws:    COM-4, COM-1, COM-2, I5
// Threads: parts are fibers of the task that waits
// Cancel:  a cancel of the task goes to everything in the plan; it ends when all of that has ended
//
//   plan::Works<Page> works;
//   works.add("near", fetch_near).add("far", fetch_far);              // each takes a Cx and gives a Task<Page>
//   const plan::Answers<Page> answers = co_await plan::run(cx, plan, works);
#pragma once

#include <concepts>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "calm/combinator/join.hpp"
#include "calm/combinator/race.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/wait.hpp"
#include "calm/model/error.hpp"
#include "calm/plan/plan.hpp"
#include "calm/time/timeout.hpp"

namespace calm::plan {

/// What a leaf came to.
template <class T>
struct Answer {
  std::string leaf;
  T value;

  friend bool operator==(const Answer&, const Answer&) = default;
};

/// Of a leaf its one answer, of a join those of all parts in their order, of a race those of the winner.
template <class T>
using Answers = std::vector<Answer<T>>;

/// The work behind the names of leaves. All of it gives a T. A copy shares the work.
template <class T>
class Works {
 public:
  static_assert(!std::is_void_v<T>, "COM-4: the leaves of a plan give a value; take calm::Unit for none");

  /// `work(cx)` gives a Task<T>. It is called each time the leaf runs, also twice side by side, and lives as long as the plan
  /// runs. A second work of the same name takes the place of the first.
  template <class F>
    requires std::same_as<typename std::invoke_result_t<const F&, Cx>::Value, T>
  Works& add(std::string leaf, F work) {
    works_.insert_or_assign(std::move(leaf), std::make_shared<const WorkOf<F>>(std::move(work)));
    return *this;
  }

  [[nodiscard]] bool has(std::string_view leaf) const noexcept { return works_.find(leaf) != works_.end(); }
  /// Needs: one of that name.
  CALM_CORO_WRAPPER Task<T> start(std::string_view leaf, Cx cx) const { return works_.find(leaf)->second->start(cx); }

 private:
  class Work {
   public:
    virtual Task<T> start(Cx cx) const = 0;

   protected:
    ~Work() = default;
  };
  template <class F>
  class WorkOf final : public Work {
   public:
    explicit WorkOf(F work) : work_(std::move(work)) {}
    CALM_CORO_WRAPPER Task<T> start(Cx cx) const override { return work_(cx); }

   private:
    F work_;
  };

  std::map<std::string, std::shared_ptr<const Work>, std::less<>> works_;
};

namespace detail {

template <class T>
Task<Answers<T>> run_node(Cx cx, const Works<T>* works, const Node* node);

/// A branch of a join or race.
template <class T>
struct Part {
  const Works<T>* works;
  const Node* node;
  CALM_CORO_WRAPPER Task<Answers<T>> operator()(Cx cx) const { return run_node<T>(cx, works, node); }
};

template <class T>
std::vector<Part<T>> parts_of(const Works<T>* works, const Node& node) {
  std::vector<Part<T>> parts;
  parts.reserve(node.parts().size());
  for (const Node& part : node.parts()) parts.push_back({works, &part});
  return parts;
}

template <class T>
Task<Answers<T>> run_leaf(Cx cx, const Works<T>* works, const Node* node) {
  T value = co_await works->start(node->name(), cx);
  Answers<T> answers;
  answers.push_back(Answer<T>{node->name(), std::move(value)});
  co_return answers;
}

template <class T>
Task<Answers<T>> run_join(Cx cx, const Works<T>* works, const Node* node) {
  std::vector<Answers<T>> all = co_await calm::join_all(cx, parts_of<T>(works, *node));
  Answers<T> answers;
  for (Answers<T>& some : all) {  // NOLINT(calm-long-loop): at most the leaves of one plan
    for (Answer<T>& answer : some) answers.push_back(std::move(answer));  // NOLINT(calm-long-loop): as above
  }
  co_return answers;
}

template <class T>
CALM_CORO_WRAPPER Task<Answers<T>> run_node(Cx cx, const Works<T>* works, const Node* node) {
  switch (node->op()) {
    case Op::leaf:
      break;
    case Op::join:
      return run_join<T>(cx, works, node);
    case Op::race:
      return calm::race_all(cx, parts_of<T>(works, *node));
    case Op::timeout:
      return calm::timeout(cx, node->limit(), Part<T>{works, &node->parts().front()});
  }
  return run_leaf<T>(cx, works, node);
}

}  // namespace detail

/// Runs the plan. Both live in the frame until everything in it has ended.
/// Gives: the answers of its leaves.
/// Fails: invalid_argument for a leaf without work, before anything is started; else as join, race and timeout do.
template <class T>
Task<Answers<T>> run(Cx cx, Plan plan, Works<T> works) {
  for (const Leaf& leaf : plan.leaves()) {
    if (!works.has(leaf.name)) {
      co_await fail(Error(Errc::invalid_argument, "nobody said what leaf " + leaf.name + " does (COM-4)"));
    }
  }
  Answers<T> answers = co_await detail::run_node<T>(cx, &works, &plan.root());
  co_return answers;
}

}  // namespace calm::plan
