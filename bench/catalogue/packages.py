"""The programs of ../jax_programs.py, with flax, optax, equinox and diffrax, each a single step from its beginning."""

import jax_programs
from row import ROWS, Row


def register():
    for name, entry in jax_programs.PROGRAMS.items():
        made = {}

        def start(entry=entry, made=made):
            made["program"] = entry.make(False)
            return (made["program"].state,)

        def step(state, made=made):
            return made["program"].step(state)

        ROWS[f"packages.{name}"] = Row(" ".join(entry.make.__doc__.split()), step, start, entry.tolerance * 10)


register()
