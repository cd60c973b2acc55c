from onmargin._core.step import Scheme

class Joint(Scheme):
    def __init__(self, C: float) -> None: ...
