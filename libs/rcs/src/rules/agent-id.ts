const SUFFIX = '@rbm.goog';

/** The agent id as compared and stored: the platform sends `acme_agent@rbm.goog` where a brand may have `acme_agent`. */
export function plainAgentId(agentId: string): string {
  return agentId.endsWith(SUFFIX) ? agentId.slice(0, -SUFFIX.length) : agentId;
}
