import {
  type DestinationAction,
  type DestinationRule,
  DestinationStore,
  type RefusalTally,
} from '@countersign/carriers/destinations';
import type { RestrictedKind } from '@countersign/phone';
import { parseId } from '@countersign/ids';
import { DatabaseClock, type Executor, type Records } from '@countersign/postgres';
import { Injectable } from '@nestjs/common';
import { refuse, succeed } from '../../http/errors.js';
import { parseInstant } from '../../http/instant.js';
import {
  NO_SUCH_ACCOUNT,
  type AdminResource,
  type CrudResource,
  type Engineer,
  type Listed,
  type Reply,
} from '../crud/admin-resource.js';
import { maskedFor, viewFor } from '../crud/people.js';
import type { Plain } from '../crud/plain.js';
import { BudgetRecords } from './budget.records.js';
import { type AccountWithBudgets, type BudgetAnswer, budgetView } from './budget.view.js';
import type { DestinationChange, DestinationDraft } from './destination.dto.js';
import { type DestinationAnswer, destinationView, withoutPerson } from './destination.view.js';
import { type RefusalAnswer, refusalView, withoutBlock } from './refusal.view.js';

type Answer = Plain<DestinationAnswer>;

@Injectable()
export class DestinationResource implements CrudResource<DestinationRule, Answer, DestinationDraft, DestinationChange> {
  readonly name = 'destinations';
  readonly noun = 'destination rule';
  readonly idPrefix = 'dest';
  readonly table: Records<DestinationRule>;
  readonly view = destinationView;
  readonly refusals = {
    destination_rules_account_id_prefix_origin_key: {
      code: 'CONFLICT',
      field: 'prefix',
      message: 'There is a rule for this prefix: change that one.',
    },
    destination_rules_account_id_fkey: NO_SUCH_ACCOUNT,
  } as const;

  /** Accounts with what they have used of their limits. */
  readonly budgets: Listed<AccountWithBudgets, Plain<BudgetAnswer>>;

  constructor(
    private readonly destinations: DestinationStore,
    clock: DatabaseClock,
  ) {
    this.budgets = { idPrefix: 'acct', view: budgetView, table: new BudgetRecords(clock) };
    this.table = {
      list: async (db, { ownerId, ...page }) => paged(await destinations.list(db, { ...page, accountId: ownerId })),
      find: (db, id) => destinations.find(db, id),
      lock: (tx, id) => destinations.lock(tx, id),
    };
  }

  /** The guard's refusals, by account, rule and prefix, with the view of the engineer's role. */
  talliesSeenBy({ role }: Engineer): Listed<RefusalTally, Plain<RefusalAnswer>> {
    return {
      idPrefix: 'refusal',
      view: viewFor(role, refusalView, withoutBlock),
      table: {
        list: async (db, { ownerId, ...page }) =>
          paged(await this.destinations.listRefusals(db, { ...page, accountId: ownerId })),
      },
    };
  }

  /** The rules with the view of the engineer's role. */
  seenBy(by: Engineer): AdminResource<DestinationRule, Answer> {
    return maskedFor(by, this, withoutPerson);
  }

  async create(tx: Executor, draft: DestinationDraft): Reply<DestinationRule, Answer> {
    const { accountId: sentId, prefix, action, kinds = [], reason = '', until } = draft;
    const accountId = typeof sentId === 'string' ? parseId('acct', sentId) : null;
    if (typeof sentId === 'string' && accountId === null) return { ok: false, refusal: NO_SUCH_ACCOUNT };
    if (!mayList(action, kinds)) return KINDS_OF_A_BLOCK;
    const rule = { accountId, prefix, action, kinds, reason, ...instantOf(until) };
    return succeed({ row: await this.destinations.create(tx, rule) });
  }

  /** Changes a rule. Blocks of the guard cannot be changed; engineers overrule or delete them. */
  async update(
    tx: Executor,
    rule: DestinationRule,
    { until, ...change }: DestinationChange,
  ): Reply<DestinationRule, Answer> {
    if (rule.origin === 'guard') {
      const message = 'This is a block of the guard: delete it to release the block of numbers.';
      return refuse('CONFLICT', { message });
    }
    const changed = { ...rule, ...change, ...instantOf(until) };
    if (!mayList(changed.action, changed.kinds)) return KINDS_OF_A_BLOCK;
    return succeed({ row: await this.destinations.update(tx, changed) });
  }

  delete(tx: Executor, { id }: DestinationRule): Promise<unknown> {
    return this.destinations.remove(tx, id);
  }
}

const KINDS_OF_A_BLOCK = refuse('VALIDATION_ERROR', {
  field: 'kinds',
  message: 'kinds must be empty in a rule that blocks: it blocks every kind of number.',
});

const mayList = (action: DestinationAction, kinds: readonly RestrictedKind[]): boolean =>
  action === 'allow' || kinds.length === 0;

const paged = <Row>({ data, hasMore }: { readonly data: readonly Row[]; readonly hasMore: boolean }) => ({
  rows: data,
  hasMore,
});

function instantOf(until: string | null | undefined): { readonly until?: Date | null } {
  if (until === undefined) return {};
  return { until: until === null ? null : parseInstant(until) };
}
