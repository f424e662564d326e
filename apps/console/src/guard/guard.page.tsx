import { useInfiniteQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { useAct } from '../ui/act.js';
import type { Column } from '../ui/data-table.js';
import { DeleteButton } from '../ui/delete-button.js';
import { Badge, Page } from '../ui/layout.js';
import { ListingTable } from '../ui/listing-table.js';
import { Meter } from '../ui/meter.js';
import { AccountName } from '../ui/names.js';
import { useIsAtLeast } from '../ui/role.js';
import { Empty } from '../ui/states.js';
import { Ago, Time } from '../ui/time.js';
import {
  type Budget,
  budgetsQuery,
  deleteRule,
  GUARD_KEY,
  reasonOf,
  type Refusal,
  refusalsQuery,
  type Rule,
  rulesQuery,
} from './guard-queries.js';
import { EditRule } from './rule-form.js';

export function GuardPage(): JSX.Element {
  const mayChange = useIsAtLeast('operator');
  return (
    <Page
      title="Guard"
      lead="Protects codes from toll fraud and guessing. This page shows what it refuses and why, and how much of their limits the accounts have used."
      actions={mayChange && <EditRule rule={null} name="Add a rule" />}
    >
      <Section title="Rules and blocks" lead="Rules that engineers made, and blocks that the guard made itself.">
        <Rules />
      </Section>
      <Section
        title="Refused codes"
        lead="How often the guard refused to send a code, by account, rule, number range and hour."
      >
        <Refusals />
      </Section>
      <Section
        title="Budgets"
        lead="Many codes that nobody enters are a sign of SMS pumping. An account over its budget of unused codes can send codes only to phones and number ranges that used theirs before."
      >
        <Budgets />
      </Section>
    </Page>
  );
}

interface SectionProps {
  readonly title: string;
  readonly lead: string;
  readonly children: JSX.Element;
}

const Section = ({ title, lead, children }: SectionProps): JSX.Element => (
  <section className="page-section" aria-label={title}>
    <h2>{title}</h2>
    <p className="soft small">{lead}</p>
    {children}
  </section>
);

const Account = ({ id }: { readonly id: string | null }): JSX.Element =>
  id === null ? <span className="soft">all accounts</span> : <AccountName id={id} />;

function RuleActs({ rule }: { readonly rule: Rule }): JSX.Element | null {
  const isGuards = rule.origin === 'guard';
  const { mutate, isPending } = useAct({
    run: () => deleteRule(rule.id),
    done: () => (isGuards ? `Codes may go to ${rule.prefix} again.` : `The rule for ${rule.prefix} is deleted.`),
    changes: GUARD_KEY,
  });
  if (!useIsAtLeast('operator')) return null;
  return (
    <div className="row-acts">
      {!isGuards && <EditRule rule={rule} name="Edit" />}
      <DeleteButton
        what={isGuards ? rule.prefix : `the rule for ${rule.prefix}`}
        act={isGuards ? 'Release' : 'Delete'}
        isPending={isPending}
        onDelete={() => mutate()}
      >
        {isGuards
          ? 'Codes go there again at once. If too few are used, the guard blocks the numbers again for an hour.'
          : 'It takes effect with the next code.'}
      </DeleteButton>
    </div>
  );
}

const RULE_COLUMNS: readonly Column<Rule>[] = [
  {
    name: 'Prefix',
    value: ({ prefix }) => prefix,
    cell: ({ prefix }) => <strong className="mono">{prefix}</strong>,
  },
  {
    name: 'Action',
    value: ({ action }) => action,
    cell: ({ action }) => <Badge tone={action === 'block' ? 'bad' : 'good'}>{action}</Badge>,
  },
  {
    name: 'Made by',
    value: ({ origin }) => origin,
    cell: ({ origin }) => (origin === 'guard' ? 'the guard' : 'an engineer'),
  },
  { name: 'Account', cell: ({ accountId }) => <Account id={accountId} /> },
  {
    name: 'Note',
    cell: ({ reason, kinds }) => (
      <>
        {reason === '' ? <span className="soft">–</span> : reason}
        {kinds.length > 0 && <span className="soft small"> {kinds.join(', ').replaceAll('_', ' ')}</span>}
      </>
    ),
  },
  {
    name: 'Until',
    value: ({ until }) => until ?? '',
    cell: ({ until }) => (until === null ? <span className="soft">no end</span> : <Time at={until} />),
  },
  { name: 'Actions', align: 'end', cell: (rule) => <RuleActs rule={rule} /> },
];

function Rules(): JSX.Element {
  const query = useInfiniteQuery(rulesQuery);
  return (
    <ListingTable
      query={query}
      what="rules"
      columns={RULE_COLUMNS}
      keyOf={({ id }) => id}
      loadsItself
      empty={
        <Empty title="No rule yet">
          Codes go to the countries that each account allows. Add a rule to block a prefix, or to allow one in another
          country.
        </Empty>
      }
    />
  );
}

function RefusalActs({ refusal: { prefix } }: { readonly refusal: Refusal }): JSX.Element | null {
  if (!useIsAtLeast('operator') || !/^\+\d+$/.test(prefix)) return null;
  return (
    <div className="row-acts">
      <EditRule rule={null} prefix={prefix} name="Add a rule" />
    </div>
  );
}

const REFUSAL_COLUMNS: readonly Column<Refusal>[] = [
  {
    name: 'Numbers',
    value: ({ prefix }) => prefix,
    cell: ({ prefix }) => <strong className="mono">{prefix}…</strong>,
  },
  {
    name: 'Refused',
    align: 'end',
    value: ({ refused }) => refused,
    cell: ({ refused }) => refused.toLocaleString('en'),
  },
  {
    name: 'Why',
    value: ({ rule }) => rule,
    cell: ({ rule }) => (
      <span>
        {reasonOf(rule)} <code className="soft small">{rule}</code>
      </span>
    ),
  },
  { name: 'Account', cell: ({ accountId }) => <AccountName id={accountId} /> },
  { name: 'Last', value: ({ lastAt }) => lastAt, cell: ({ lastAt }) => <Ago at={lastAt} /> },
  { name: 'Actions', align: 'end', cell: (refusal) => <RefusalActs refusal={refusal} /> },
];

function Refusals(): JSX.Element {
  const query = useInfiniteQuery(refusalsQuery);
  return (
    <ListingTable
      query={query}
      what="refusals"
      columns={REFUSAL_COLUMNS}
      keyOf={({ id }) => id}
      empty={<Empty title="No refused code">Refused codes appear here within 5 seconds.</Empty>}
    />
  );
}

const count = (value: number): string => value.toLocaleString('en');

const BUDGET_COLUMNS: readonly Column<Budget>[] = [
  { name: 'Account', value: ({ name }) => name, cell: ({ name }) => <strong>{name}</strong> },
  {
    name: 'Codes today',
    value: ({ today }) => today.sends,
    cell: ({ name, today, dailyMessageCap }) => (
      <Meter label={`Codes of ${name} today`} used={today.sends} limit={dailyMessageCap}>
        {count(today.sends)} of {count(dailyMessageCap)}
      </Meter>
    ),
  },
  {
    name: 'Spend today',
    value: ({ spentTodayUsd }) => Number(spentTodayUsd),
    cell: ({ name, spentTodayUsd, dailySpendCapUsd: cap }) => (
      <Meter label={`Spend of ${name} today`} used={Number(spentTodayUsd)} limit={cap === null ? null : Number(cap)}>
        ${spentTodayUsd} {cap === null ? <span className="soft small">no cap</span> : `of $${cap}`}
      </Meter>
    ),
  },
  {
    name: 'Unused, last hour',
    value: ({ lastHour }) => lastHour.unconverted,
    cell: ({ name, lastHour }) => (
      <Meter label={`Unused codes of ${name} in the hour`} used={lastHour.unconverted} limit={lastHour.allowed}>
        {count(lastHour.unconverted)} of {count(lastHour.allowed)}
      </Meter>
    ),
  },
  {
    name: 'Unused, today',
    value: ({ today }) => today.unconverted,
    cell: ({ name, today }) => (
      <Meter label={`Unused codes of ${name} today`} used={today.unconverted} limit={today.allowed}>
        {count(today.unconverted)} of {count(today.allowed)}
      </Meter>
    ),
  },
];

function Budgets(): JSX.Element {
  const query = useInfiniteQuery(budgetsQuery);
  return (
    <ListingTable
      query={query}
      what="budgets"
      columns={BUDGET_COLUMNS}
      keyOf={({ id }) => id}
      empty={<Empty title="There is no account yet">Create one with POST /v1/admin/accounts.</Empty>}
    />
  );
}
