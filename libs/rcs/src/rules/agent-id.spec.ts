import { expect, it } from 'vitest';
import { plainAgentId } from './agent-id.js';

it.each([
  ['acme_agent@rbm.goog', 'acme_agent'],
  ['acme_agent', 'acme_agent'],
  ['acme_agent@rbm.goog@rbm.goog', 'acme_agent@rbm.goog'],
  ['acme@rbm.google', 'acme@rbm.google'],
  ['', ''],
])('the agent %j is %j', (agentId, plain) => {
  expect(plainAgentId(agentId)).toBe(plain);
});
