"""The order of tests; the recordings where they are at hand; `oracle` and `strategies` by name."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

sys.path.insert(0, str(Path(__file__).parent))


# No clock decides whether a test passes: on a busy machine an example, or drawing one, may take a second.
hypothesis_settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("busy")


def pytest_collection_modifyitems(items):
    """Pages first: some take a minute, and at the end all others would wait for them."""
    items.sort(key=lambda item: item.path.name != "test_docs.py")


@pytest.fixture
def recordings():
    if not os.environ.get("FERNN_DATA"):
        pytest.skip("FERNN_DATA is not set: the paper's recordings are not at hand")


@pytest.fixture(scope="module")
def chromium():
    """A browser without a screen, for the tests of one file. A process can drive but one at a time."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not installed")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"], timeout=PATIENCE)
        yield _patient(browser)
        browser.close()


PATIENCE = 600_000
"""Milliseconds that a page is waited for: what compiling on a busy machine may take, not what a page should."""


def _patient(browser):
    """Whatever is opened in it has this patience."""

    def opening(opens):
        def opened(**options):
            made = opens(**options)
            made.set_default_timeout(PATIENCE)
            made.set_default_navigation_timeout(PATIENCE)
            return made

        return opened

    browser.new_context, browser.new_page = opening(browser.new_context), opening(browser.new_page)
    return browser
