"""A flag of a command: what its environment variable is, and what an error names."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from numalign.errors import NumalignError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


Command = Callable[..., Any]
Decorator = Callable[[Command], Command]
PREFIX = "NUMALIGN"
"""Of the variables of the environment that stand for flags."""
_IN_ENVIRONMENT = f"{__name__}.any"
"""Where a context keeps whether there are any."""
Given = dict[str, Any]
"""Parameter -> what was given, as click hands it to a command."""


def with_options(function: Command, options: Sequence[Decorator]) -> Command:
    """Add options, the first one first in --help."""
    for option in reversed(options):
        function = option(function)
    return function


def gathered(*options: Decorator) -> Callable[[Callable[[Given], None]], Decorator]:
    """Make a decorator that adds options: of the function below, which turns what they give into one argument."""

    def decorator(gather: Callable[[Given], None]) -> Decorator:
        def add(function: Command) -> Command:
            @wraps(function)
            def wrapped(**given: object) -> object:
                gather(given)
                return function(**given)

            return with_options(wrapped, options)

        return add

    return decorator


class Flag(click.Option):
    """A flag of a command: NUMALIGN_FLAG sets it for all that have it, NUMALIGN_COMMAND_FLAG for one and wins."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete names that numalign knows; else what click completes."""
        from numalign.cli.completion import complete

        found = None if isinstance(self.type, click.Choice) else complete(self.name or "", ctx, incomplete)
        return super().shell_complete(ctx, incomplete) if found is None else found

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        """Look into the environment; an empty variable is none."""
        name = self._set_by(ctx)
        if name is None:
            return None
        _variables_in_use(ctx)[name] = tuple(self.opts)
        return os.environ[name]

    def get_error_hint(self, ctx: click.Context | None) -> str:
        """Name the flag, and the variable where a wrong value comes from one: it stands nowhere on the line."""
        hint = super().get_error_hint(ctx)
        if ctx is None or ctx.get_parameter_source(self.name or "") is not ParameterSource.ENVIRONMENT:
            return hint
        return f"{hint} ({self._set_by(ctx)})"

    def _set_by(self, ctx: click.Context) -> str | None:
        """Name the variable that sets the flag of the command on the way; None: none does."""
        if not _any_in_environment(ctx):
            return None
        names = (name for prefix in self.prefixes(ctx) for name in variables(self, prefix))
        return next((name for name in names if os.environ.get(name)), None)

    def prefixes(self, ctx: click.Context) -> tuple[str, ...]:
        """Give what the variables that set it begin with, the one that wins first."""
        return (ctx.auto_envvar_prefix or PREFIX, PREFIX)


def _any_in_environment(ctx: click.Context) -> bool:
    """Tell whether any variable may stand for a flag: as a rule there is none, and each flag is spared the look."""
    if _IN_ENVIRONMENT not in ctx.meta:
        ctx.meta[_IN_ENVIRONMENT] = any(name.startswith(PREFIX) for name in os.environ)
    there: bool = ctx.meta[_IN_ENVIRONMENT]
    return there


def _variables_in_use(ctx: click.Context) -> dict[str, tuple[str, ...]]:
    """Return variable -> names of the flag that it sets, for all commands on the way."""
    found: dict[str, tuple[str, ...]] = ctx.meta.setdefault(f"{__name__}.variables", {})
    return found


def name_variable(ctx: click.Context, error: NumalignError) -> None:
    """Add the variable to an error about a flag that one sets, or about the file that one names."""
    for variable, flags in _variables_in_use(ctx).items():
        value = os.environ[variable]
        if error.where.partition(" ")[0].rstrip(":") in flags or error.where.strip('"') in (value, *value.split()):
            error.where += f" ({variable})"
            return


class OwnFlag(Flag):
    """A flag that means something else than that of the same name of other commands: only its own variable sets it."""

    def prefixes(self, ctx: click.Context) -> tuple[str, ...]:
        """Give what its variable begins with."""
        return super().prefixes(ctx)[:1]


def complete_files(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a file or a folder; the shell itself does it."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def variables(option: click.Option, prefix: str) -> list[str]:
    """Name the variables that set an option, one for each of its names: for every command, or for one by its prefix."""
    names = [name for name in option.opts if name.startswith("--")]
    return [f"{prefix}_{name.removeprefix('--').replace('-', '_').upper()}" for name in names]


def flag(*names: str, cls: type[Flag] = Flag, **attributes: Any) -> Decorator:
    """Add a flag, which the environment can set, too."""
    return click.option(*names, cls=cls, **attributes)
