export function roleUrls(superuserUrl: string): { ownerUrl: string; appUrl: string };
export function ensureRoles(superuserUrl: string): Promise<void>;
