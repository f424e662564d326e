import type { Socket } from 'node:net';
import { SmppLink, type LinkOptions } from '@countersign/smpp/link';
import { Metrics } from '@countersign/telemetry';
import { LinkMetrics, type Side } from '../../apps/gateway/src/links/link.metrics.js';

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
  side: Side,
  window: number,
  options: Pick<LinkOptions, 'onMessage'> & Partial<LinkOptions>,
): SmppLink {
  const meter = metrics.createMeter(side, 'bench');
  return new SmppLink(socket, {
    role: side === 'bind' ? 'esme' : 'smsc',
    timers: TIMERS,
    window,
    maxInbound: 1_000,
    interfaceVersion: 0x34,
    systemIdOfServer: 'bench',
    onPdu: (direction, pdu) => meter.countPdu(direction, pdu, performance.now()),
    ...options,
  });
}
