import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DEMO = 'apps/control-plane/src/demo';

describe('the image of the control plane', () => {
  it('has no seed of the demo, and imports none', () => {
    const dockerfile = readFileSync(path.join(ROOT, 'config/docker/Dockerfile'), 'utf8');
    expect(dockerfile).toMatch(new RegExp(`^RUN .*nest build control-plane.* && rm -rf .*dist/${DEMO}( |$)`, 'm'));
    const sources = readdirSync(path.join(ROOT, 'apps/control-plane/src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts') && !file.startsWith('demo/'))
      .map((file) => readFileSync(path.join(ROOT, 'apps/control-plane/src', file), 'utf8'));
    expect(sources.length).toBeGreaterThan(100);
    expect(sources.filter((text) => /from '[^']*\/demo\//.test(text))).toEqual([]);
  });
});
