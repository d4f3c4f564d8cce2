"""How often each rule of the intake was used: a rule that never is may be a typing mistake."""

from collections import Counter
from collections.abc import Iterable, Mapping
from threading import Lock


class RuleUse:
    """Counts by the rule's name, from the start of the process on."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._times: Counter[str] = Counter()

    def expect(self, rules: Iterable[str]) -> None:
        """Know these rules, used or not."""
        with self._lock:
            for rule in rules:
                self._times[rule] += 0

    def count(self, rule: str) -> None:
        """Count one more use of the rule."""
        self.count_all({rule: 1})

    def count_all(self, times: Mapping[str, int]) -> None:
        """Count so many more uses of each rule."""
        with self._lock:
            self._times.update(times)

    def times(self) -> Mapping[str, int]:
        """How often each rule was used."""
        with self._lock:
            return dict(sorted(self._times.items()))

    def never(self) -> list[str]:
        """The rules that no alert has used yet."""
        return [rule for rule, times in self.times().items() if not times]
