"""A command that names at once all that it was not given: nobody has to ask it again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typer.core import TyperArgument, TyperCommand, TyperOption

if TYPE_CHECKING:
    from typer._click.core import Context


class WholeUsage(TyperCommand):
    """A command that looks through all of its words before it refuses one that is missing."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """The words of a command line; what is missing is told together."""
        given, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        needed = (param for param in self.get_params(ctx) if param.required and not given.get(str(param.name)))
        missing = [_called(param) for param in needed if isinstance(param, TyperArgument | TyperOption)]
        if missing and "help" not in given and not ctx.resilient_parsing:
            ctx.fail(f"Missing: {', '.join(missing)}")
        return super().parse_args(ctx, args)


def _called(param: TyperArgument | TyperOption) -> str:
    """What it is called on the command line, as in `--topic TOPIC`."""
    value = param.metavar or str(param.name).upper()
    return value if isinstance(param, TyperArgument) else f"{param.opts[-1]} {value}"
