"""A command that names at once all that it was not given: nobody has to ask it again and again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from typer.core import TyperArgument, TyperCommand, TyperOption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typer._click import HelpFormatter
    from typer._click.core import Context, Parameter


class WholeUsage(TyperCommand):
    """A command that looks through all of its words before it refuses one that is missing."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """The words of a command line; what is missing is told together.

        Who only asks which settings are in force need not name what they would be used on.
        """
        given, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        needed = [param for param in self.get_params(ctx) if param.required and not given.get(str(param.name))]
        missing = [_called(param) for param in needed if isinstance(param, TyperArgument | TyperOption)]
        if given.get("show_settings"):
            return self._not_needing(needed, ctx, args)
        if missing and "help" not in given and not ctx.resilient_parsing:
            ctx.fail(f"Missing: {', '.join(missing)}")
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Context) -> list[str]:
        """The usage line: what must be given by its bare name, what may be left out in brackets."""
        own = [param for param in self.get_params(ctx) if isinstance(param, TyperArgument)]
        return [self.options_metavar or "", *map(_as_written, own)]

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        """What may be given, in words: of which type the program holds it is nobody's matter."""
        records = [(param, param.get_help_record(ctx)) for param in self.get_params(ctx)]
        for head, kind in (("Arguments", TyperArgument), ("Options", TyperOption)):
            described = [(param, record) for param, record in records if isinstance(param, kind) and record is not None]
            if described:
                with formatter.section(head):
                    formatter.write_dl([(_name(param, name), _plainly(words)) for param, (name, words) in described])

    def _not_needing(self, needed: Sequence[Parameter], ctx: Context, args: list[str]) -> list[str]:
        for param in needed:
            param.required = False
        try:
            return super().parse_args(ctx, args)
        finally:
            for param in needed:
                param.required = True


def _called(param: TyperArgument | TyperOption) -> str:
    """What it is called on the command line, as in `--topic TOPIC`."""
    value = param.metavar or str(param.name).upper()
    return value if isinstance(param, TyperArgument) else f"{param.opts[-1]} {value}"


def _name(param: TyperArgument | TyperOption, name: str) -> str:
    return _as_written(param) if isinstance(param, TyperArgument) else name


def _plainly(words: str) -> str:
    """A bound of a number, as the library writes it, in words."""
    return re.sub(r"\bx>=(\d+)", r"at least \1", words)


def _as_written(argument: TyperArgument) -> str:
    """An argument as people write it: FINDING, DUMP..., [RULE]."""
    name = f"{_called(argument)}{'' if argument.nargs == 1 else '...'}"
    return name if argument.required else f"[{name}]"
