"""The columns of a resource's table, as ``kubectl get`` prints them.

A resource says ``columns=(NAME, column("Status", field="status.phase"), AGE)``; its `ResourceSpec.cells` returns what
stands below them, in the same order.
"""

from __future__ import annotations

from hyperkube.hookspecs.api import Column

NAME = Column("Name", format="name")
AGE = Column("Age")


def column(
    name: str,
    *,
    type: str = "string",  # noqa: A002 - the name that TableColumnDefinition has for it
    format: str = "",  # noqa: A002 - likewise
    priority: int = 0,
    field: str = "",
    description: str = "",
) -> Column:
    """Return a column of a table.

    Args:
        name: the heading.
        type: the OpenAPI type of the cells.
        format: the OpenAPI format of the cells; ``name`` marks the cells that name the object.
        priority: 0 for a column that is always shown, 1 for one of ``-o wide``.
        field: the field that the column shows and whose description it has: a dotted path from the object
            (``status.readyReplicas``), after ``package.module:Class/`` if the schema is not that of the resource.
        description: the description of a column that does not have that of a field.
    """
    return Column(name, type, format, description, priority, field)
