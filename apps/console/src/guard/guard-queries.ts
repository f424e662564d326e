import { api, dataOf, type Schemas } from '../api/client.js';
import { LIVE_MS, listing } from '../api/cursor.js';

export type Rule = Schemas['DestinationAnswer'];
export type Refusal = Schemas['RefusalAnswer'];
export type Budget = Schemas['BudgetAnswer'];

const KEY = 'guard';
export const GUARD_KEY = [KEY] as const;

export const rulesQuery = listing([KEY, 'rules'], (query, signal) =>
  dataOf(api.GET('/v1/admin/destinations', { params: { query }, signal })),
);

/** Live, because a refused code is worth seeing at once. */
export const refusalsQuery = listing(
  [KEY, 'refusals'],
  (query, signal) => dataOf(api.GET('/v1/admin/destinations/refusals', { params: { query }, signal })),
  true,
);

export const budgetsQuery = {
  ...listing([KEY, 'budgets'], (query, signal) =>
    dataOf(api.GET('/v1/admin/destinations/budgets', { params: { query }, signal })),
  ),
  refetchInterval: 3 * LIVE_MS,
};

export const deleteRule = (id: string): Promise<unknown> =>
  dataOf(api.DELETE('/v1/admin/destinations/{id}', { params: { path: { id } } }));

/** Why the guard refuses, by its rule. New rules may be added to the API. */
const REASONS: Readonly<Record<string, string>> = {
  number_type: 'not a number that codes may go to: not assigned, or premium, toll-free and the like',
  destination_rule: 'a rule of an engineer blocks the prefix',
  country: 'the account does not send codes to the country',
  breaker: 'too few codes to this block of numbers are used: it looks like pumping',
  budget_account: 'the account’s unused codes of the hour, and its blocks of numbers use too few',
  budget_country: 'the country’s unused codes of the hour',
  budget_day: 'the account’s unused codes of the day',
  daily_messages: 'the daily number of codes is used up',
  no_price: 'the code has no price, so it cannot count against the spend cap',
  daily_spend: 'the daily spend cap is used up',
  phone_hourly: 'the phone had its codes of the hour',
  phone_daily: 'the phone had its codes of the day',
};

export const reasonOf = (rule: string): string => REASONS[rule] ?? rule.replaceAll('_', ' ');
