import { availableParallelism } from 'node:os';
import { AccountDirectory } from '@countersign/accounts/accounts';
import { AdminKeyDirectory } from '@countersign/accounts/admin-keys';
import { entropyVersionsInUse, KeyUse } from '@countersign/accounts/keys';
import { type Limiter, openLimiter, openPubSub, prepareQueues, PubSub } from '@countersign/bus';
import { CardOfferStore } from '@countersign/rcs/offers';
import { CarrierDirectory } from '@countersign/carriers/config';
import { EventStore, prepareByDaemon } from '@countersign/events';
import { checkKeys, type KeyDependants } from '@countersign/key-ring';
import { ServerKeys } from '@countersign/keys';
import { Database, DatabaseClock } from '@countersign/postgres';
import { ensurePartitions } from '@countersign/postgres/partitions';
import { ensureSchema } from '@countersign/postgres/schema';
import { SessionRenderer, SessionStore, type CodeCheck, type SessionBatch } from '@countersign/session';
import type { ControlPlaneSettings } from '@countersign/settings';
import { type DynamicModule, Module } from '@nestjs/common';
import { CardJobNotifier } from '../notifiers/card-job.notifier.js';
import { DeliveryJobNotifier } from '../notifiers/delivery-job.notifier.js';
import { EventJobNotifier } from '../notifiers/event-job.notifier.js';
import { EventBroadcast } from '../events/event-broadcast.js';
import { CodeChecks } from '../guard/code-checks.store.js';
import { TargetRules } from '../targets/target.js';

/** Objects that live as long as the process and that several modules use. */
export interface Stores {
  readonly database: Database;
  readonly clock: DatabaseClock;
  readonly keys: ServerKeys;
  readonly accounts: AccountDirectory;
  readonly keyUse: KeyUse;
  readonly adminKeys: AdminKeyDirectory;
  readonly adminKeyUse: KeyUse;
  readonly limiter: Limiter;
  readonly bus: PubSub;
  readonly eventBroadcast: EventBroadcast;
  readonly carriers: CarrierDirectory;
  readonly events: EventStore;
  readonly renderer: SessionRenderer;
  readonly sessions: SessionStore;
  readonly codeChecks: CodeChecks;
  readonly cards: CardOfferStore;
  readonly eventNotifier: EventJobNotifier;
  readonly deliveryNotifier: DeliveryJobNotifier;
  readonly cardNotifier: CardJobNotifier;
  readonly targetRules: TargetRules;
}

/**
 * Sessions in one transaction at most: half of 64 busy connections. With all of them in one set, this process and PostgreSQL
 * wait for each other in turns, which costs an eighth of the creates (64 connections, two cores).
 */
const MAX_SESSIONS_PER_BATCH = 32;

/**
 * Concurrent batches. On two cores for the whole service a second one makes both smaller and is a tenth slower (create, 64
 * connections); with more cores PostgreSQL works on one batch while the next is collected.
 */
const BATCHES_IN_FLIGHT = availableParallelism() > 2 ? 2 : 1;

export interface StoreListeners {
  /** Called with errors of idle connections and of background reads. */
  readonly onError: (error: unknown) => void;
  /** Called when this process starts to count quotas alone, for want of the shared limiter. */
  readonly onLimiterAway: (error: unknown) => void;
  /** Called with errors of messages to other processes, which were lost. */
  readonly onBusError: (error: unknown) => void;
  readonly onBatch: (name: SessionBatch, size: number) => void;
  /** Called with checks of codes of live sessions, for the metrics. */
  readonly onChecks: (checks: readonly CodeCheck[]) => void;
  /** Called with log entries about the server keys, in the logger's order: fields, then a message. */
  readonly onKeyLog: (facts: Readonly<Record<string, unknown>>, message: string) => void;
}

/** Checks the schema (in development an outdated one is migrated) and the server keys, creates missing partitions, opens the stores. */
export async function openStores(
  settings: ControlPlaneSettings,
  /** Every table with values sealed or digested under the server keys. */
  dependants: KeyDependants,
  { onError, onLimiterAway, onBusError, onBatch, onChecks, onKeyLog }: StoreListeners,
): Promise<Stores> {
  await ensureSchema(settings.databaseUrl, settings.production ? null : prepareByDaemon);
  const keys = await checkedKeys(settings, dependants, onKeyLog);
  await prepareQueues(settings);
  const database = await Database.open({
    url: settings.databaseUrl,
    poolMax: settings.databasePoolMax,
    applicationName: 'countersign-control-plane',
    onError,
  });
  const clock = await DatabaseClock.start(database, onError);
  await ensurePartitions(database, clock.nowMs());
  const renderer = new SessionRenderer(keys, settings.entropyKeys);
  const events = new EventStore();
  const eventNotifier = new EventJobNotifier();
  const bus = openPubSub(settings, onBusError);
  const codeChecks = new CodeChecks({ database, clock, keys, onChecks, onError });
  const sessions = new SessionStore({
    database,
    clock,
    keys,
    events,
    renderer,
    onEvents: (ids) => eventNotifier.notify(ids),
    onChecks: (checks) => codeChecks.enqueue(checks),
    batch: {
      maxBatch: Math.min(settings.batchMaxCommands, MAX_SESSIONS_PER_BATCH),
      maxInFlight: BATCHES_IN_FLIGHT,
      onBatch,
    },
  });
  return {
    database,
    clock,
    keys,
    ...keyStores({ database, keys, rootKey: settings.adminKey, onError }),
    limiter: await openLimiter(settings, onLimiterAway),
    bus,
    eventBroadcast: new EventBroadcast(bus),
    carriers: new CarrierDirectory(database),
    events,
    renderer,
    sessions,
    codeChecks,
    cards: new CardOfferStore({ database, unreachableSeconds: settings.rcsUnreachableSeconds }),
    eventNotifier,
    deliveryNotifier: new DeliveryJobNotifier(),
    cardNotifier: new CardJobNotifier('cards', settings, onBusError),
    targetRules: new TargetRules({
      allowedCidrs: settings.webhookAllowedCidrs,
      allowHttp: settings.webhookAllowHttp,
    }),
  };
}

/** The server keys, checked against the database. Rejects with a KeyCheckError when they do not match it. */
async function checkedKeys(
  { databaseUrl, masterKeys, entropyKeys }: ControlPlaneSettings,
  dependants: KeyDependants,
  log: StoreListeners['onKeyLog'],
): Promise<ServerKeys> {
  const keys = ServerKeys.fromRing(masterKeys);
  const entropy = { keys: entropyKeys, versionsInUse: entropyVersionsInUse };
  await checkKeys({ databaseUrl, keys, entropy, dependants, isComplete: true, log });
  return keys;
}

interface KeyStoreOptions {
  readonly database: Database;
  readonly keys: ServerKeys;
  /** The admin key of the environment. */
  readonly rootKey: string;
  readonly onError: (error: unknown) => void;
}

/** API keys and admin keys: each directory reports keys with an outdated digest to its KeyUse, which renews the digest. */
function keyStores({ database, keys, rootKey, onError }: KeyStoreOptions) {
  const keyUse = new KeyUse({ database, onError });
  const adminKeyUse = new KeyUse({ database, onError, table: 'admin_keys' });
  return {
    keyUse,
    adminKeyUse,
    accounts: new AccountDirectory(database, keys, (outdated) => keyUse.requestRenewal(outdated)),
    adminKeys: new AdminKeyDirectory({
      database,
      keys,
      rootKey,
      onOutdatedDigest: (outdated) => adminKeyUse.requestRenewal(outdated),
    }),
  };
}

/** Provides the stores to Nest by their classes. They are opened and closed outside of Nest. */
@Module({})
export class StoresModule {
  static of(stores: Stores): DynamicModule {
    const providers = [
      { provide: Database, useValue: stores.database },
      { provide: DatabaseClock, useValue: stores.clock },
      { provide: ServerKeys, useValue: stores.keys },
      { provide: AccountDirectory, useValue: stores.accounts },
      { provide: PubSub, useValue: stores.bus },
      { provide: EventBroadcast, useValue: stores.eventBroadcast },
      { provide: CarrierDirectory, useValue: stores.carriers },
      { provide: EventStore, useValue: stores.events },
      { provide: SessionRenderer, useValue: stores.renderer },
      { provide: SessionStore, useValue: stores.sessions },
      { provide: CodeChecks, useValue: stores.codeChecks },
      { provide: EventJobNotifier, useValue: stores.eventNotifier },
      { provide: DeliveryJobNotifier, useValue: stores.deliveryNotifier },
      { provide: CardJobNotifier, useValue: stores.cardNotifier },
      { provide: TargetRules, useValue: stores.targetRules },
    ];
    return { module: StoresModule, providers, exports: providers };
  }
}
