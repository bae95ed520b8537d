#!/usr/bin/env python3
"""Checks a built site: every link leads to a page and an anchor that is there, and nothing is loaded from the network.

    check.py FOLDER
"""

import pathlib
import re
import sys
from html.parser import HTMLParser
from urllib.parse import unquote

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src", "embed": "src", "object": "data"}
LOADED_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "preconnect", "dns-prefetch", "manifest", "shortcut icon"}


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loads, self.title = set(), [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, pairs):
        attributes = dict(pairs)
        self.anchors |= {attributes[k] for k in ("id", "name") if attributes.get(k)}
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        if tag in LOADED and attributes.get(LOADED[tag]):
            self.loads.append(attributes[LOADED[tag]])
        if tag == "link" and attributes.get("rel") in LOADED_LINKS:
            self.loads.append(attributes.get("href", ""))


def is_elsewhere(link):
    return re.match(r"(?:[a-z][a-z0-9+.-]*:|//)", link, re.I) is not None


def problems_of(folder):
    folder = pathlib.Path(folder).resolve()
    pages = {path: Page(path.read_text()) for path in sorted(folder.rglob("*.html"))}
    if not pages:
        yield f"{folder} has no page"
    for path, page in pages.items():
        where = path.relative_to(folder)
        for link in page.loads:
            if is_elsewhere(link) and not link.startswith("data:"):
                yield f"{where} loads {link}"
            elif not link.startswith("data:") and not (path.parent / unquote(link.split("?")[0].split("#")[0])).is_file():
                yield f"{where} loads {link}, which is not there"
        for link in page.links:
            target, _, anchor = link.partition("#")
            if is_elsewhere(link):
                continue
            to = path if target == "" else (path.parent / unquote(target.split("?")[0])).resolve()
            if not to.is_file() or not to.is_relative_to(folder):
                yield f"{where}: {link} leads to no file"
            elif anchor and to in pages and unquote(anchor) not in pages[to].anchors and anchor != "__skip":
                yield f"{where}: {link} leads to no anchor"
    for path in folder.rglob("*.css"):
        for link in re.findall(r"url\(\s*['\"]?([^'\")]+)", path.read_text()):
            if is_elsewhere(link) and not link.startswith("data:"):
                yield f"{path.relative_to(folder)} loads {link}"
    for path in folder.rglob("*.svg"):
        if found := re.search(r"(?:href|src)\s*=\s*['\"](?:https?:)?//[^'\"]+", path.read_text()):
            yield f"{path.relative_to(folder)} loads {found[0]}"


if __name__ == "__main__":
    found = list(problems_of(sys.argv[1]))
    print("\n".join(found + [f"{len(found)} problems"]))
    sys.exit(bool(found))
