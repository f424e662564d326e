import { SystemPasswordStore, SystemRefusalStore } from '@countersign/carriers/credentials';
import { SystemConnectionStore } from '@countersign/carriers/leases';
import { ServerKeys } from '@countersign/keys';
import type { Uuid } from '@countersign/ids';
import { Database } from '@countersign/postgres';
import { GATEWAY_ID } from '../injection/gateway-id.token.js';
import { provideClass } from '@countersign/composition';
import { BindAuthenticator } from './bind-authenticator.js';
import { BindLockout } from './bind-lockout.js';
import { CertificateHandshakes } from './certificate-handshakes.js';
import { ConnectionAdmitter } from './connection.admitter.js';
import { ConnectionRegistry } from './connection-registry.js';
import { GuessLimits } from './guess-limits.js';
import { ListenerMetrics } from './listener.metrics.js';
import { ListenerService } from './listener.service.js';
import { SmppPorts } from './smpp-ports.js';
import { SystemCache } from './system-cache.js';
import { SystemConnections } from './system-connections.js';
import { SystemGuesses } from './system-guesses.js';
import { SystemLinkReporter } from './system-link.reporter.js';
import { SystemLinks } from './system-links.js';
import { SystemReceipts } from './system-receipts.js';
import { SystemRefusals } from './system-refusals.js';
import { SystemSenders } from './system-senders.js';
import { SystemPasswords } from './system-passwords.js';

/** Connections that carriers and aggregators open to the gateway. */
export const listenerProviders = [
  { provide: SystemConnectionStore, inject: [GATEWAY_ID], useFactory: (id: Uuid) => new SystemConnectionStore(id) },
  provideClass(SystemPasswordStore, Database, ServerKeys),
  SystemRefusalStore,
  SystemRefusals,
  BindLockout,
  SystemGuesses,
  GuessLimits,
  ListenerMetrics,
  SystemCache,
  SystemPasswords,
  SystemConnections,
  BindAuthenticator,
  SystemLinkReporter,
  SystemLinks,
  SystemSenders,
  SystemReceipts,
  ConnectionRegistry,
  ConnectionAdmitter,
  CertificateHandshakes,
  SmppPorts,
  ListenerService,
];
