import type { AgentBrand } from '../phone/phone-item.js';

const DOMAIN = '@rbm.goog';
const AGENT_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;

/** The agents' registrations with the platform. */
const REGISTERED: ReadonlyMap<string, Omit<AgentBrand, 'agentId'>> = new Map([
  ['countersign_demo', { name: 'Acme', logoUrl: '/phone/media/acme-mark.svg', verified: true }],
]);

/** Images that the platform has fetched, by their source URL: it shows its own copies. */
const FETCHED: ReadonlyMap<string, string> = new Map([['https://acme.example/logo.png', '/phone/media/acme.svg']]);

/** `acme` of `acme` and of `acme@rbm.goog`; null when the text is no agent id. */
export function agentIdOf(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  const id = text.endsWith(DOMAIN) ? text.slice(0, -DOMAIN.length) : text;
  return AGENT_ID.test(id) ? id : null;
}

/** The form of an agent id in events. */
export const agentAddress = (agentId: string): string => `${agentId}${DOMAIN}`;

export function agentBrand(agentId: string): AgentBrand {
  const registered = REGISTERED.get(agentId) ?? { name: agentId, logoUrl: null, verified: true };
  return { agentId, ...registered };
}

export const pictureOf = (fileUrl: string): string => FETCHED.get(fileUrl) ?? fileUrl;
