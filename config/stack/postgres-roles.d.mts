export function roleUrls(superuserUrl: string): { ownerUrl: string; appUrl: string; gatewayUrl: string };
export const GATEWAY: string;
export function ensureRoles(superuserUrl: string): Promise<void>;
