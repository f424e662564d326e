import { redactText } from './redaction.js';
import type { Shutdown } from './shutdown.js';

/** What a process has once it serves. */
export interface Started {
  readonly shutdown: Shutdown;
  /** Says that it serves; called when the shutdown hears signals already. */
  readonly ready: () => void;
}

export interface DaemonOptions {
  readonly start: () => Promise<Started>;
  /** The variables that set its ports, for the advice when one is taken. */
  readonly portVariables: string;
  /** Whether the text of an error was written for the operator, and is shown as it is. */
  readonly isForOperator: (error: unknown) => error is Error;
}

/** The process, or what a test puts in its place. */
export interface Host {
  readonly connected?: boolean | undefined;
  readonly stderr: { write(text: string): unknown };
  once(event: 'disconnect', listener: () => void): unknown;
  off(event: 'disconnect', listener: () => void): unknown;
  exit(code: number): unknown;
}

/**
 * The life of a daemon: it starts, says so, and stops when it is told to. A start that fails is a sentence on standard
 * error and exit code 1. A parent that opened an IPC channel and dies while we start does not leave us behind;
 * afterwards the shutdown watches for it.
 */
export async function runDaemon(options: DaemonOptions, host: Host = process): Promise<void> {
  const abandon = (): void => void host.exit(1);
  host.once('disconnect', abandon);
  // It may have died while the program was being loaded. Without a parent of ours the property is not there.
  if (host.connected === false) abandon();
  try {
    const { shutdown, ready } = await options.start();
    host.off('disconnect', abandon);
    shutdown.listen();
    ready();
  } catch (error) {
    host.stderr.write(`${wordsFor(error, options)}\n`);
    host.exit(1);
  }
}

function wordsFor(error: unknown, { portVariables, isForOperator }: DaemonOptions): string {
  if (isForOperator(error)) return error.message;
  const text = redactText(error instanceof Error ? error.message : String(error));
  return text.includes('EADDRINUSE') ? `${text}: stop what uses the port, or set ${portVariables}` : text;
}
