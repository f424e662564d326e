import { BINDS, SMPP_SYSTEMS } from '@countersign/carriers/records';
import { candidateRoutes, type CandidateRoute } from '@countersign/carriers/routes';
import { AuditStore, isRunning } from '@countersign/events';
import type { Uuid } from '@countersign/ids';
import { checkPhone, maskPhone } from '@countersign/phone';
import { Database, type Executor } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { GuardPreviewService } from '../../guard/guard-preview.service.js';
import { GuardStore } from '../../guard/guard.store.js';
import { refuse, succeed, type Outcome } from '../../http/errors.js';
import { isTestNumber } from '../../test-numbers/test-number.js';
import type { Engineer } from '../crud/admin-resource.js';
import type { Plain } from '../crud/plain.js';
import { BrandSenders } from './brand-senders.js';
import { bindHealth, systemHealth, type LinkHealth } from './link-health.js';
import type { ResolveRoute } from './resolve-route.dto.js';
import { resolveRoute } from './route-resolution.js';
import type { RouteResolution } from './route-resolution.view.js';

/** Candidates of one number that are read. */
const MAX_CANDIDATES = 100;

/** The moment of the answer, and whether the queue of codes runs. */
const READ_MOMENT = `
  SELECT date_trunc('milliseconds', clock_timestamp()) AS now, ${isRunning('outbound')} AS running`;

/** Says which way a code would go now. Counts nothing. */
@Injectable()
export class RouteResolutionService {
  constructor(
    private readonly database: Database,
    private readonly brands: BrandSenders,
    private readonly guard: GuardPreviewService,
    private readonly prices: GuardStore,
    private readonly audit: AuditStore,
  ) {}

  /** The guard's answer depends on what the phone did, so each call is audited, with the phone masked. */
  async resolve(by: Engineer, { phone, brandId }: ResolveRoute): Promise<Outcome<Plain<RouteResolution>>> {
    const check = checkPhone(phone);
    if (!check.ok || isTestNumber(phone)) return refuse('INVALID_PHONE', { field: 'phone' });
    const { country } = check;
    const brand = brandId === undefined ? null : await this.brands.activeBrand(brandId);
    if (brandId !== undefined && brand === null) return refuse('INVALID_BRAND', { field: 'brandId' });
    const accountId = brand?.accountId ?? null;
    const sender = brand === null ? null : await this.brands.senderOf(brand, country);
    return this.database.transaction(async (tx) => {
      const { now, running } = await readMoment(tx);
      const [guard, price, candidates] = await Promise.all([
        this.guard.judge(tx, { accountId, phone, country, now }),
        this.prices.readPrice(tx, country, now),
        candidateRoutes(tx, phone, MAX_CANDIDATES),
      ]);
      const links = await readLinks(tx, candidates);
      const { actor, requestId } = by;
      const after = { phone: maskPhone(phone), brandId: brandId ?? null };
      const about = { actor, requestId, action: 'resolve', resource: 'routes', resourceId: 'resolve' };
      await this.audit.append(tx, { ...about, before: null, after });
      const facts = { phone, country, now, accountId, sender, guard, queuePaused: !running, candidates, links, price };
      return succeed(resolveRoute(facts));
    });
  }
}

async function readMoment(tx: Executor): Promise<{ readonly now: Date; readonly running: boolean }> {
  const [row] = await tx.query<{ now: Date; running: boolean }>(READ_MOMENT);
  if (row === undefined) throw new Error('route resolution: the time was not read');
  return row;
}

async function readLinks(tx: Executor, candidates: readonly CandidateRoute[]): Promise<ReadonlyMap<Uuid, LinkHealth>> {
  const idsOf = (of: 'bindId' | 'systemId'): Uuid[] => [
    ...new Set(candidates.flatMap(({ [of]: id }) => (id === null ? [] : [id]))),
  ];
  const [binds, systems] = await Promise.all([
    Promise.all(idsOf('bindId').map((id) => BINDS.find(tx, id))),
    Promise.all(idsOf('systemId').map((id) => SMPP_SYSTEMS.find(tx, id))),
  ]);
  return new Map([
    ...binds.flatMap((bind) => (bind === null ? [] : [[bind.id, bindHealth(bind)] as const])),
    ...systems.flatMap((system) => (system === null ? [] : [[system.id, systemHealth(system)] as const])),
  ]);
}
