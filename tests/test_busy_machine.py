"""No test needs an idle machine."""

from pathlib import Path

from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent


def test_no_clock_of_hypothesis_decides_whether_a_test_passes():
    assert settings.default.deadline is None
    assert HealthCheck.too_slow in settings.default.suppress_health_check
    given = [path.name for path in TESTS.rglob("*.py") if path != Path(__file__) and "deadline=1" in path.read_text()]
    assert not given
