import { redactText } from './redaction.js';
import type { Shutdown } from './shutdown.js';
import { terminalText } from './terminal.js';

/** A started process. */
export interface Started {
  readonly shutdown: Shutdown;
  /** Reports that the process serves; called after the shutdown listens for signals. */
  readonly ready: () => void;
}

export interface DaemonOptions {
  readonly start: () => Promise<Started>;
  /** The variables that set its ports, named in the message about a port in use. */
  readonly portVariables: string;
  /** Whether an error's text was written for the operator, and is shown without redaction. */
  readonly isForOperator: (error: unknown) => error is Error;
}

/** The process, or a test double. */
export interface Host {
  readonly connected?: boolean | undefined;
  readonly stderr: { write(text: string): unknown };
  once(event: 'disconnect', listener: () => void): unknown;
  off(event: 'disconnect', listener: () => void): unknown;
  exit(code: number): unknown;
}

/**
 * Runs a daemon: starts it, reports readiness, and stops it on request. A failed start writes a sentence to standard
 * error and exits with code 1. If a parent with an IPC channel dies during the start, the process exits; afterwards
 * the shutdown watches for that.
 */
export async function runDaemon(options: DaemonOptions, host: Host = process): Promise<void> {
  const abandon = (): void => void host.exit(1);
  host.once('disconnect', abandon);
  // The parent may have died while the program was loaded. Without a parent the property is missing.
  if (host.connected === false) abandon();
  try {
    const { shutdown, ready } = await options.start();
    host.off('disconnect', abandon);
    shutdown.listen();
    ready();
  } catch (error) {
    host.stderr.write(`${terminalText(messageFor(error, options))}\n`);
    host.exit(1);
  }
}

function messageFor(error: unknown, { portVariables, isForOperator }: DaemonOptions): string {
  if (isForOperator(error)) return error.message;
  const text = redactText(error instanceof Error ? error.message : String(error));
  return text.includes('EADDRINUSE') ? `${text}: stop what uses the port, or set ${portVariables}` : text;
}
