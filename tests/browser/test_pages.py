"""The site's pages in a headless Chromium, and what a site with an address says of itself; see test_site.py."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from manual import links
from manual import site as documentation
from tests.browser.server import Site
from tests.browser.test_site import PATIENCE, ROOT, axe

pytestmark = pytest.mark.site

ADDRESS = "https://numalign.example"
CUT_OFF = """() => [...document.querySelectorAll(".md-content *")]
  .filter((one) => one.clientWidth && one.scrollWidth > one.clientWidth + 1)
  .filter((one) => ["auto", "scroll", "hidden"].includes(getComputedStyle(one).overflowX))
  .filter((one) => !one.closest("details:not([open])"))
  .map((one) => one.innerText.slice(0, 60))"""


def names(folder: Path) -> list[str]:
    found = sorted(path.parent.relative_to(folder).as_posix() for path in folder.rglob("index.html"))
    return [name for name in found if name != "playground"]


@pytest.mark.parametrize(("width", "mode"), [(390, "light"), (768, "dark"), (1400, "light")])
def test_no_page_is_cut_off(browser: Any, site: Site, width: int, mode: str) -> None:
    """No page is wider than its window; in a wide one nothing has to be moved to be read."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=mode)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    wrong = []
    for name in names(site.folder):
        page.goto(f"{site.address}/{name}/")
        if page.evaluate("document.documentElement.scrollWidth") > width:
            wrong.append(f"{name}: wider than the window")
        if width == 1400:
            wrong += [f"{name}: {text}" for text in page.evaluate(CUT_OFF)]
    context.close()
    assert wrong == []


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("name", ["", "recipes/", "issues/", "proof/"])
def test_everybody_can_read_a_page(browser: Any, site: Site, name: str, mode: str) -> None:
    context = browser.new_context(viewport={"width": 1400, "height": 900}, color_scheme=mode)
    page = context.new_page()
    page.goto(f"{site.address}/{name}")
    found = axe.Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]})
    context.close()
    assert found.violations_count == 0, found.generate_report()


@pytest.fixture(scope="module")
def published() -> Path:
    folder = ROOT / "build/published"
    documentation.build(folder, ADDRESS)
    (folder / "playground").mkdir()
    (folder / "playground/index.html").write_text("<p>stands for it", encoding="utf-8")
    return folder


def test_one_address_is_all_that_a_published_site_needs(published: Path) -> None:
    page = (published / "ci/index.html").read_text(encoding="utf-8")
    assert f'<link rel="canonical" href="{ADDRESS}/docs/ci/">' in page
    assert f'<meta property="og:url" content="{ADDRESS}/docs/ci/">' in page
    assert f'<meta property="og:image" content="{ADDRESS}/docs/preview.png">' in page
    assert f'href="{ADDRESS}/source/edit/main/docs/ci.md"' in page
    made = (published / "commands/index.html").read_text(encoding="utf-8")
    assert 'rel="edit"' not in made
    sitemap = (published / "sitemap.xml").read_text(encoding="utf-8")
    pages = [f"{ADDRESS}/docs/{name}/".replace("/./", "/") for name in names(published)]
    assert sorted(re.findall("<loc>(.*?)</loc>", sitemap)) == sorted(pages)


def test_no_link_of_a_published_site_leads_nowhere(published: Path) -> None:
    assert list(links.problems(published, ADDRESS)) == []
    assert 'href="/docs/try/"' in (published / "404.html").read_text(encoding="utf-8")


def test_without_an_address_none_is_named() -> None:
    page = (ROOT / "site/ci/index.html").read_text(encoding="utf-8")
    assert not re.search('rel="(canonical|edit)"|og:(url|image)', page)
