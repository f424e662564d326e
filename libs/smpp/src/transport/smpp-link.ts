import type { Socket } from 'node:net';
import type { BindCall, LinkOptions } from '../link-options.js';
import type { BindType, LinkState } from '../link-state.js';
import type { EnquireLink, MessagePdu, Outgoing, ResponsePdu } from '../pdu.js';

/** One SMPP connection, in either role. */
export class SmppLink {
  readonly closed: Promise<{ readonly reason: string }> = new Promise(() => undefined);
  constructor(socket: Socket, options: LinkOptions) {
    void socket;
    void options;
  }
  get state(): LinkState {
    return 'open';
  }
  get bindType(): BindType | null {
    return null;
  }
  get systemId(): string | null {
    return null;
  }
  get windowUsed(): number {
    return 0;
  }
  get lastError(): string | null {
    return null;
  }
  bind(call: BindCall): Promise<{ readonly status: number; readonly systemId: string }> {
    return Promise.reject(new Error(call.bindType));
  }
  request(pdu: Outgoing<MessagePdu | EnquireLink>): Promise<ResponsePdu> {
    return Promise.reject(new Error(pdu.command));
  }
  unbind(timeoutMs?: number): Promise<void> {
    return Promise.reject(new Error(String(timeoutMs)));
  }
  destroy(reason: string): void {
    void reason;
  }
}
