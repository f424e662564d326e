import type { Uuid } from '@countersign/ids';
import type { Executor } from '@countersign/postgres';
import { allowanceOf, dailyFloorOf } from './guard-rules.js';
import { READ_SPENT, READ_WINDOWS } from './guard.sql.js';
import type { Micros, WindowSums } from './send-counters.js';
import { ACCOUNT_SCOPE, DAY_SCOPE, windowOf } from './traffic-slots.js';

/** Codes without an approval, and the number of them from which on the conversion budget refuses. */
export interface Budget {
  readonly sends: number;
  readonly unconverted: number;
  readonly allowed: number;
}

/** How much of its limits an account has used. */
export interface AccountBudgets {
  readonly lastHour: Budget;
  /** Of this UTC day. */
  readonly today: Budget;
  readonly spentToday: Micros;
}

interface Owner {
  readonly id: Uuid;
  /** `otpUnconvertedFloor`. */
  readonly floor: number;
}

type WindowRow = WindowSums & { readonly accountId: Uuid; readonly scope: string };

/** The budgets of accounts, in their order, from the counters of the guard. Locks nothing. */
export async function readBudgets(db: Executor, owners: readonly Owner[], now: Date): Promise<AccountBudgets[]> {
  const windows = owners.flatMap(({ id }) =>
    [ACCOUNT_SCOPE, DAY_SCOPE].map((scope) => ({ id, scope, ...windowOf(scope, now.getTime()) })),
  );
  const [rows, spent] = await Promise.all([
    db.query<WindowRow>(READ_WINDOWS, [
      windows.map(({ id }) => id),
      windows.map(({ scope }) => scope),
      windows.map(({ sendsFromMs }) => new Date(sendsFromMs)),
      windows.map(({ approvalsFromMs }) => new Date(approvalsFromMs)),
    ]),
    db.query<{ id: Uuid; spent: string }>(READ_SPENT, [owners.map(({ id }) => id), now]),
  ]);
  const sums = new Map(rows.map((row) => [`${row.accountId} ${row.scope}`, row]));
  const micros = new Map(spent.map((row) => [row.id, BigInt(row.spent)]));
  return owners.map(({ id, floor }) => ({
    lastHour: budgetOf(sums.get(`${id} ${ACCOUNT_SCOPE}`), floor),
    today: budgetOf(sums.get(`${id} ${DAY_SCOPE}`), dailyFloorOf(floor)),
    spentToday: micros.get(id) ?? 0n,
  }));
}

function budgetOf(window: WindowSums | undefined, floor: number): Budget {
  const { sends, settled, approvals } = window ?? { sends: 0, settled: 0, approvals: 0 };
  return { sends, unconverted: Math.max(0, sends - settled), allowed: allowanceOf(floor, approvals) };
}
