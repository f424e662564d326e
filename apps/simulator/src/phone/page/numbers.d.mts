export function parseNumber(typed: string): string | null;
export function formatNumber(address: string): string;
export function spokenNumber(address: string): string;
