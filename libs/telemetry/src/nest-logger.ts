import type { LoggerService } from '@nestjs/common';
import type { Logger } from './logger.js';

/**
 * Nest's log lines through our logger. Nest passes a message, sometimes a stack, and the context (the logging class)
 * last. Its start-up lines, one per module and route, are written as debug.
 */
export class NestPinoLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  private write(
    level: 'trace' | 'debug' | 'warn' | 'error' | 'fatal',
    message: unknown,
    rest: readonly unknown[],
  ): void {
    const context = rest.at(-1);
    const details = rest.slice(0, -1).filter((value) => value !== undefined);
    const fields = { ...(typeof context === 'string' ? { context } : {}), ...(details.length > 0 ? { details } : {}) };
    if (typeof message === 'string') this.logger[level](fields, message);
    else this.logger[level]({ ...fields, err: message }, message instanceof Error ? message.message : 'logged a value');
  }
}
