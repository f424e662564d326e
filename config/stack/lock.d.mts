export function takeLock(file: string): { release: () => void; heldBy?: never } | { heldBy: number; release?: never };
