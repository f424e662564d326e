export function withSecretFiles(env: Record<string, string | undefined>): Record<string, string | undefined>;
