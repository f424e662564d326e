import type { Socket } from 'node:net';
import { SmppLink, type LinkHandlers, type LinkOptions } from '@countersign/smpp/link';
import { Metrics } from '@countersign/telemetry';
import { LinkMetrics } from '../../apps/gateway/src/links/link.metrics.js';

const TIMERS = {
  sessionInitMs: 10_000,
  pduReadMs: 10_000,
  enquireLinkMs: 30_000,
  responseMs: 10_000,
  inactivityMs: 0,
};

const metrics = new LinkMetrics(new Metrics({ app: 'bench' }));

/** A link as in the gateway: every check, every timer, and the metrics of every PDU. */
export function meteredLink(
  socket: Socket,
  endpoint: LinkOptions['endpoint'],
  window: number,
  handlers: LinkHandlers,
  timers = TIMERS,
): SmppLink {
  const meter = metrics.createMeter(endpoint.role === 'esme' ? 'bind' : 'listener', 'bench');
  return new SmppLink(socket, {
    endpoint,
    timers,
    limits: { window, maxInbound: 1_000 },
    handlers: { onPdu: (direction, pdu) => meter.countPdu(direction, pdu, performance.now()), ...handlers },
  });
}
