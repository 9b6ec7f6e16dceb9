#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The gateway's page in Chromium, as a person would use it, with the mouse and with the keyboard alone.

  tests/gateway_page.py ADDRESS TOKEN VIEWER [PICTURES]     ends with 1 and says what is wrong

TOKEN is an operator's, VIEWER a viewer's. With PICTURES, a folder, pictures of it are left there. Needs Playwright for
Python and Chromium.
"""
import os, re, shutil, sys, time
from playwright.sync_api import sync_playwright

address, token, viewer = sys.argv[1:4]
pictures = sys.argv[4] if len(sys.argv) > 4 else None
faults = []


def check(fine, what):
    if not fine:
        faults.append(what)


# Of a machine that is busy with other tests: as tests/flock.sh has it.
PATIENCE = int(os.environ.get("STARLING_PATIENCE", "4"))


def until(page, what, patience):
    """Asked from outside: the page's own policy lets no script evaluate text in it."""
    end = time.monotonic() + patience * PATIENCE
    while not page.evaluate(what):
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.1)


def shot(page, name):
    if pictures:
        page.screenshot(path=f"{pictures}/{name}.png", full_page=True)


def cut_off(page):
    return page.evaluate("""() => [document.documentElement, ...document.querySelectorAll('.card, .tile, dialog[open]')]
      .filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => `${e.id || e.className || e.tagName}: ${e.clientWidth} of ${e.scrollWidth}`)""")


def watched(browser, **how):
    page = browser.new_page(**how)
    page.on("pageerror", lambda e: faults.append(f"script: {e}"))
    page.on("console", lambda m: faults.append(f"console: {m.text}") if m.type == "error" and not re.search("status of (400|401|422) ", m.text) else None)
    page.on("request", lambda r: check(r.url.startswith(address) or r.url.startswith("data:"), f"loads {r.url}"))
    return page


def submit(page, name, seconds):
    page.click("#new-job")
    page.fill("#s-duration", str(seconds))
    page.fill("#s-name", name)
    page.click("#submit-form button:has-text('submit')")
    page.wait_for_selector("#submit", state="hidden", timeout=15000 * PATIENCE)


with sync_playwright() as play:
    browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-dev-shm-usage"])
    page = watched(browser, viewport={"width": 1280, "height": 900}, color_scheme="light")

    page.goto(address + "/")
    page.wait_for_selector("#door", state="visible")
    page.fill("#token", "starling_wrong")
    page.keyboard.press("Enter")
    until(page, "document.getElementById('door-trouble').textContent !== ''", 15)
    page.fill("#token", token)
    page.keyboard.press("Enter")
    page.wait_for_selector("body[data-ready=yes]", timeout=30000 * PATIENCE)
    check(page.locator(".server").count() == 4, "not all servers are drawn")
    check(page.locator(".gpu").count() == 8, "not all GPUs are drawn")
    check(page.locator("#agents tbody tr").count() == 2, "not all agents are there")

    # A job that others submit appears without a reload, and its GPUs are painted.
    submit(page, "painted", 100000)
    page.wait_for_selector("#jobs td:has-text('painted')", timeout=15000 * PATIENCE)
    page.wait_for_selector("#jobs tr:has-text('painted') .state.running", timeout=30000 * PATIENCE)
    until(page, "document.querySelectorAll('.gpu[title*=job]').length === 1", 15)
    check(page.locator("#link").inner_text() == "live", "the events do not come")
    check(page.locator("#tiles").inner_text().find("GPUs held\n1") >= 0, "the tiles do not follow: " + page.locator("#tiles").inner_text())
    check(cut_off(page) == [], f"cut off: {cut_off(page)}")
    shot(page, "wide-light")

    # By the keyboard alone: to the job, into it, and out again.
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_selector("#job[open]")
    until(page, "document.getElementById('explain').textContent !== ''", 20)
    check("is running" in page.locator("#story").inner_text(), "no story: " + page.locator("#story").inner_text())
    check(cut_off(page) == [], f"cut off: {cut_off(page)}")
    shot(page, "job")
    page.keyboard.press("Escape")
    page.wait_for_selector("#job", state="hidden")
    until(page, "document.activeElement.dataset.job !== undefined", 5)  # the keyboard is where it was

    # Cancelled, and seen to be.
    page.click("#jobs tr:has-text('painted') button.open")
    page.click("#cancel")
    until(page, "document.getElementById('story').textContent.includes('cancelled')", 30)
    page.keyboard.press("Escape")
    page.wait_for_selector("#jobs tr:has-text('painted') .state.cancelled", timeout=15000 * PATIENCE)
    until(page, "document.querySelectorAll('.gpu[title*=job]').length === 0", 15)

    # A server is drained and used again.
    page.locator(".server").nth(2).click()
    page.click("#server button:has-text('drain')")
    page.wait_for_selector(".server.drained", timeout=20000 * PATIENCE)
    shot(page, "drained")
    page.click("#server button:has-text('use it again')")
    page.wait_for_selector(".server.drained", state="detached", timeout=20000 * PATIENCE)

    # Filters, and what is refused is said.
    page.select_option("#f-state", "open")
    page.click("#filter button:has-text('show')")
    until(page, "document.getElementById('jobs-note').textContent.startsWith('No job')", 15)
    page.fill("#f-since", "never")
    page.click("#filter button:has-text('show')")
    page.wait_for_selector("#trouble:visible", timeout=15000 * PATIENCE)
    page.click("#new-job")
    page.fill("#s-gpus", "8000")
    page.fill("#s-duration", "5")
    page.click("#submit-form button:has-text('submit')")
    until(page, "document.getElementById('submit-trouble').textContent !== ''", 15)
    shot(page, "refused")
    page.close()

    # On a phone in the dark, as a viewer, who may only look; the token comes behind '#' and does not stay there.
    phone = watched(browser, viewport={"width": 360, "height": 740}, color_scheme="dark")
    phone.goto(f"{address}/#token={viewer}")
    phone.wait_for_selector("body[data-ready=yes]", timeout=30000 * PATIENCE)
    check("token" not in phone.url, "the token stays in the address")
    check(phone.locator("#new-job").is_hidden(), "a viewer is offered to submit")
    check(cut_off(phone) == [], f"cut off: {cut_off(phone)}")
    shot(phone, "narrow-dark")
    phone.locator("#jobs button.open").first.click()
    phone.wait_for_selector("#job[open]")
    check(phone.locator("#cancel").is_hidden(), "a viewer is offered to cancel")
    check(cut_off(phone) == [], f"cut off: {cut_off(phone)}")
    time.sleep(1)
    shot(phone, "narrow-job")
    browser.close()

for fault in faults:
    print("gateway_page:", fault, file=sys.stderr)
sys.exit(1 if faults else 0)
