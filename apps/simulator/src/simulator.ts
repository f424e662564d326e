import { readFileSync } from 'node:fs';
import { boundRequests, forbidSniffing } from '@countersign/http';
import type { NestApplicationOptions } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { SimulatorSettings } from '@countersign/settings';
import { Shop } from './demo/shop.js';
import { PhoneFeed } from './feed/phone-feed.js';
import { receivedItem } from './feed/sms-items.js';
import { ErrorFilter } from './http/error.filter.js';
import { onlyOwnPages } from './http/own-pages.js';
import { refuseAmbiguousHeaders } from './http/ambiguous-headers.js';
import { withoutTypeOfNothing } from './http/empty-body.js';
import { validationPipe } from './http/validation.pipe.js';
import { servePages } from './pages/static-pages.js';
import { systemClock } from './rbm/clock.js';
import { PhoneProfiles } from './phone/phone-profile.js';
import { type RbmPartner, RbmService } from './rbm/rbm.service.js';
import { parseServiceAccount } from './rbm/access-token-issuer.js';
import { SimulatorModule, type SimulatorParts } from './simulator.module.js';
import { SmscServer } from './smsc/smsc.server.js';

/** The control surface has no key: only this machine reaches it. */
const HOST = '127.0.0.1';
/** Signatures are over the octets of a body, not over its parsed form. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- Nest declares its options as classes
const OPTIONS: NestApplicationOptions = { rawBody: true };

/** The running simulator. */
export interface Simulator {
  readonly parts: SimulatorParts;
  /** Stops its parts concurrently; they do not depend on each other. */
  close(): Promise<void>;
}

/** Starts the SMSC, the RBM service and the pages on the ports of the settings. */
export async function openSimulator(
  settings: Readonly<SimulatorSettings>,
  log: (message: string) => void,
): Promise<Simulator> {
  const parts = partsOf(settings, log);
  const http = await NestFactory.create<NestFastifyApplication>(
    SimulatorModule.register(parts),
    new FastifyAdapter({ forceCloseConnections: true }),
    OPTIONS,
  );
  http.useGlobalPipes(validationPipe());
  http.useGlobalFilters(new ErrorFilter());
  const server = http.getHttpAdapter().getInstance();
  boundRequests(server.server);
  forbidSniffing(server.server);
  server.addHook('onRequest', refuseAmbiguousHeaders);
  server.addHook('onRequest', onlyOwnPages);
  server.addHook('onRequest', withoutTypeOfNothing);
  servePages(http);
  await parts.smsc.listen(settings.smppPort);
  await http.listen(settings.httpPort, HOST);
  parts.rbm.webhook.register();
  return {
    parts,
    close: async () => {
      await Promise.all([http.close(), parts.rbm.webhook.close(), parts.smsc.close(), parts.shop.close()]);
    },
  };
}

function partsOf(settings: Readonly<SimulatorSettings>, log: (message: string) => void): SimulatorParts {
  const phones = new PhoneProfiles();
  const feed = new PhoneFeed((phone) => ({ phone, ...phones.profileOf(phone) }));
  const rbm = new RbmService({ clock: systemClock, partner: partnerOf(settings), phones, feed, log });
  const smsc = new SmscServer({
    systemId: settings.systemId,
    password: settings.password,
    log,
    onReceived: (sms) => feed.show(receivedItem(sms)),
  });
  return { smsc, rbm, feed, shop: Shop.open(settings) };
}

function partnerOf(settings: Readonly<SimulatorSettings>): RbmPartner {
  const { rbmServiceAccountFile: file, rbmClientToken: clientToken, rbmWebhookUrl: webhookUrl } = settings;
  const account = file === null ? null : parseServiceAccount(readFileSync(file, 'utf8'));
  return { account, clientToken, webhookUrl };
}
