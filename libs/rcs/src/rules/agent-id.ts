const SUFFIX = '@rbm.goog';

/** An agent's id as it is compared and stored: the platform says `acme_agent@rbm.goog` where a brand may say `acme_agent`. */
export function plainAgentId(agentId: string): string {
  return agentId.endsWith(SUFFIX) ? agentId.slice(0, -SUFFIX.length) : agentId;
}
