// Pictures of views are as they were: those of simulated runs, which are the same each time. They are
// compared small, and parts without text, so that fonts do not matter.
//
//	EFG_PAGE_UPDATE=1 EFG_PAGE_CHECKS=reference go test ./internal/web -run TestPage
//
// writes them anew, to be looked at.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const width = 160; // of a picture that is compared
const far = 40; // of 255, that a pixel may differ
const some = 0.02; // part of the pixels that may differ more

const views = {
  timeline: ["#/runs/ring/timeline", "canvas[data-flows][data-path]"],
  "timeline-part": ["#/runs/ring/timeline?ranks=0-7&s.ranks=2-3", "canvas[data-flows][data-path]"],
  regions: ["#/runs/steps/timeline?ranks=0-7", "canvas[data-flows][data-lanes]"],
  matrix: ["#/runs/halo/matrix", "[data-ready=matrix]"],
  flame: ["#/runs/ring/flame?of=calls", "[data-ready=flame]"],
  waiting: ["#/runs/ring/waits", ".stack svg"],
};

// small makes a small picture of an element, as a PNG, and compares its pixels with those of
// another PNG, if there is one: which part of them differs much.
async function small(page, selector, other) {
  const shot = await page.tab.locator(selector).first().screenshot();
  return page.tab.evaluate(async ([png, reference, wide, limit]) => {
    const image = async (data) => createImageBitmap(new Blob([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], { type: "image/png" }));
    const pixels = (bitmap, high) => {
      const canvas = new OffscreenCanvas(wide, high);
      const g = canvas.getContext("2d");
      g.imageSmoothingQuality = "high";
      g.drawImage(bitmap, 0, 0, wide, high);
      return [canvas, g.getImageData(0, 0, wide, high).data];
    };
    const now = await image(png);
    const high = Math.max(1, Math.round((now.height * wide) / now.width));
    const [canvas, data] = pixels(now, high);
    const bytes = new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer());
    const result = { png: btoa(String.fromCharCode(...bytes)), part: 1, high };
    if (!reference) return result;
    const before = await image(reference);
    if (before.width !== wide || before.height !== high) return { ...result, size: `${before.width} × ${before.height}` };
    const [, old] = pixels(before, high);
    let differ = 0;
    for (let i = 0; i < data.length; i += 4) differ += [0, 1, 2].some((k) => Math.abs(data[i + k] - old[i + k]) > limit);
    return { ...result, part: differ / (wide * high) };
  }, [shot.toString("base64"), other?.toString("base64"), width, far]);
}

async function compare(page, theme) {
  const { references, update } = page.config;
  for (const [name, [hash, selector]] of Object.entries(views)) {
    await page.open(hash, selector);
    await page.tab.mouse.move(0, 0);
    await page.tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const file = join(references, `${name}-${theme}.png`);
    const got = await small(page, selector, existsSync(file) ? readFileSync(file) : undefined);
    if (update) {
      mkdirSync(references, { recursive: true });
      writeFileSync(file, Buffer.from(got.png, "base64"));
      continue;
    }
    if (got.part > some) writeFileSync(join(page.config.shots, `reference-${name}-${theme}.png`), Buffer.from(got.png, "base64"));
    assert.ok(got.part <= some, `${name}, ${theme}: ${(100 * got.part).toFixed(1)} % of the pixels differ from ${file}${got.size ? `, which has ${got.size} pixels` : ""}`);
  }
}

async function reference(page) {
  await compare(page, "light");
  const night = await page.browser.page({ colorScheme: "dark" });
  await compare(night, "dark");
  night.clean();
  await night.close();
}

export const referenceChecks = { "reference pictures": reference };
