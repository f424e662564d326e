export interface Listener {
  readonly variable: string;
  readonly port: number;
  readonly host: string;
  readonly what: string;
}
export const PRIVATE_PORTS: { readonly from: number; readonly count: number };
export function freePort(from?: number, count?: number): Promise<number>;
export function listenersOf(env: Readonly<Record<string, string | undefined>>): Listener[];
export function checkPorts(listeners: readonly Listener[]): Promise<void>;
