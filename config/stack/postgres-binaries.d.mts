/** Empty unless this process is root's: PostgreSQL refuses to run as root. */
export function serverAccount(): { name?: string; uid?: number; gid?: number };
