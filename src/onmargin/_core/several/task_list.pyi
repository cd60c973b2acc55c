from collections.abc import Iterable
from collections.abc import Sequence as Many
from typing import Any

from onmargin._core.tasks.task import Task

def check_models(models: Iterable[Any]) -> tuple[Any, ...]: ...

class TaskList:
    def __init__(self, tasks: Many[Task]) -> None: ...

class TwoClasses(TaskList):
    def __init__(self, tasks: Many[Task]) -> None: ...

def list_tasks(tasks: Many[Task], width: int) -> TaskList: ...
