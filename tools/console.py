"""console.py — how the tools speak: misuse is one line and exit 2, a finding says what, which rule and what next."""
import argparse
import sys


class Unusable(Exception):
    """The command line, an input or the machine does not allow the job at all."""


class Broken(Exception):
    """The job found what must not be."""

    def __init__(self, what, rule, next_step):
        super().__init__(finding(what, rule, next_step))


class OneLineParser(argparse.ArgumentParser):
    """Shows the text at the top of the tool as its help and says in one line what is wrong with a call."""

    def __init__(self, prog, description):
        super().__init__(prog=prog, description=description, formatter_class=argparse.RawDescriptionHelpFormatter)

    def error(self, message):
        raise Unusable(f"{self.prog}: {message}")


def finding(what, rule, next_step):
    return f"calm: {what}\n  rule: {rule}\n  next: {next_step}"


def exit_with(main):
    """Ends the program with what main returns."""
    try:
        sys.exit(main())
    except Broken as found:
        print(found, file=sys.stderr)
        sys.exit(1)
    except Unusable as reason:
        print(reason, file=sys.stderr)
        sys.exit(2)
