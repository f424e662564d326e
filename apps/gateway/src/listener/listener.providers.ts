import type { FactoryProvider } from '@nestjs/common';
import { CarrierDirectory } from '@countersign/carriers';
import { ServerKeys } from '@countersign/keys';
import { GatewaySettings } from '@countersign/settings';
import type { Logger } from '@countersign/telemetry';
import { GatewayMetrics } from '../gateway.metrics.js';
import { InboundService } from '../inbound/inbound.service.js';
import { LOGGER } from '../logger.token.js';
import { ListenerService, type ListenerOptions } from './listener.service.js';
import { SystemGate } from './system-gate.js';

export const listenerProviders: FactoryProvider[] = [
  {
    provide: SystemGate,
    inject: [CarrierDirectory, ServerKeys],
    useFactory: (carriers: CarrierDirectory, keys: ServerKeys) => new SystemGate(carriers, keys),
  },
  {
    provide: ListenerService,
    inject: [GatewaySettings, CarrierDirectory, SystemGate, InboundService, GatewayMetrics, LOGGER],
    useFactory: (
      settings: GatewaySettings,
      carriers: CarrierDirectory,
      gate: SystemGate,
      inbound: InboundService,
      metrics: GatewayMetrics,
      logger: Logger,
    ) => new ListenerService({ ...portsOf(settings), carriers, gate, inbound, metrics, logger }),
  },
];

/** TLS is served where there is a certificate; the settings take care that it comes with its key. */
function portsOf(settings: GatewaySettings): Pick<ListenerOptions, 'host' | 'port' | 'tls'> {
  const { smppHost: host, smppPort: port, smppTlsPort, smppTlsCertFile: certFile, smppTlsKeyFile: keyFile } = settings;
  return { host, port, tls: certFile === null || keyFile === null ? null : { port: smppTlsPort, certFile, keyFile } };
}
