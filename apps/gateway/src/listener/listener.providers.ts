import type { FactoryProvider } from '@nestjs/common';
import { PubSub, TOPICS } from '@countersign/bus';
import { CarrierDirectory } from '@countersign/carriers/config';
import { SystemPasswordStore } from '@countersign/carriers/credentials';
import { SystemConnectionStore } from '@countersign/carriers/leases';
import { ServerKeys } from '@countersign/keys';
import { Database, DatabaseClock } from '@countersign/postgres';
import { GatewaySettings } from '@countersign/settings';
import type { Logger } from '@countersign/telemetry';
import { GatewayMetrics } from '../metrics/gateway.metrics.js';
import { InboundService } from '../inbound/inbound.service.js';
import { LOGGER } from '../injection/logger.token.js';
import { BindLockout } from './bind-lockout.js';
import { ListenerService, type ListenerOptions } from './listener.service.js';
import { BindAuthenticator } from './bind-authenticator.js';
import { SystemGuesses } from './system-guesses.js';
import { SystemCache } from './system-cache.js';

export const listenerProviders: FactoryProvider[] = [
  { provide: BindLockout, inject: [], useFactory: () => new BindLockout() },
  { provide: SystemGuesses, inject: [], useFactory: () => new SystemGuesses() },
  {
    provide: SystemCache,
    inject: [CarrierDirectory, BindLockout, SystemGuesses, PubSub, LOGGER],
    useFactory: (
      carriers: CarrierDirectory,
      bindLockout: BindLockout,
      guesses: SystemGuesses,
      bus: PubSub,
      logger: Logger,
    ) => {
      const onCredentials = (): void => {
        bindLockout.clearFailures();
        guesses.clearFailures();
      };
      const systemCache = new SystemCache({ carriers, logger, onCredentials });
      bus.subscribe(TOPICS.systems, () => systemCache.trigger());
      return systemCache;
    },
  },
  {
    provide: BindAuthenticator,
    inject: [CarrierDirectory, ServerKeys, BindLockout, SystemGuesses, SystemConnectionStore, Database, LOGGER],
    useFactory: (
      carriers: CarrierDirectory,
      keys: ServerKeys,
      bindLockout: BindLockout,
      guesses: SystemGuesses,
      store: SystemConnectionStore,
      database: Database,
      logger: Logger,
    ) => {
      const passwords = new SystemPasswordStore(database, keys);
      const onError = (err: unknown): void =>
        logger.warn({ err }, 'password digest of a system could not be renewed; retrying at its next bind');
      return new BindAuthenticator({
        carriers,
        keys,
        bindLockout,
        guesses,
        onPassword: (system, password) => void passwords.renew(system, password).catch(onError),
        countConnectionsElsewhere: (id) => store.countOfSystemElsewhere(database, id),
      });
    },
  },
  {
    provide: ListenerService,
    inject: [
      GatewaySettings,
      SystemCache,
      BindLockout,
      BindAuthenticator,
      SystemConnectionStore,
      Database,
      DatabaseClock,
      InboundService,
      GatewayMetrics,
      LOGGER,
    ],
    useFactory: (
      settings: GatewaySettings,
      systemCache: SystemCache,
      bindLockout: BindLockout,
      authenticator: BindAuthenticator,
      store: SystemConnectionStore,
      database: Database,
      clock: DatabaseClock,
      inbound: InboundService,
      metrics: GatewayMetrics,
      logger: Logger,
    ) => {
      const parts = { systemCache, bindLockout, authenticator, store, database, clock, inbound, metrics, logger };
      return new ListenerService({ ...portsOf(settings), ...parts });
    },
  },
];

/** The TLS port is opened when a certificate is configured; the settings require its key. */
function portsOf(settings: GatewaySettings): Pick<ListenerOptions, 'host' | 'port' | 'tls'> {
  const { smppHost: host, smppPort: port, smppTlsPort, smppTlsCertFile: certFile, smppTlsKeyFile: keyFile } = settings;
  if (certFile === null || keyFile === null) return { host, port, tls: null };
  return { host, port, tls: { port: smppTlsPort, certFile, keyFile, clientCaFile: settings.smppTlsClientCaFile } };
}
