import path from 'node:path';
import type { OpenAPIObject } from '@nestjs/swagger';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consoleApiOf, consoleTypesOf } from '../support/console-api.js';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { ROOT } from '../support/stack.js';

const FOLDER = path.join(ROOT, 'apps/console/src/api');

let harness: ControlPlaneHarness;

beforeAll(async () => {
  harness = await ControlPlaneHarness.open();
});
afterAll(() => harness.close());

describe('the description of the API in the console', () => {
  // After a change of the API: npx vitest run -c config/tooling/vitest.config.ts --project contract test/contract/console-api.spec.ts --update=all
  it('is that of the server, and so are its types', async () => {
    const { text } = await harness.call('/v1/openapi.json', { key: null });
    const description = await consoleApiOf(JSON.parse(text) as OpenAPIObject);
    await expect(description).toMatchFileSnapshot(path.join(FOLDER, 'openapi.json'));
    await expect(await consoleTypesOf(description)).toMatchFileSnapshot(path.join(FOLDER, 'schema.d.ts'));
  });
});
