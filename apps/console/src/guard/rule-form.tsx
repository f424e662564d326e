import { useQuery } from '@tanstack/react-query';
import { type JSX, useState } from 'react';
import { api, dataOf, type Schemas } from '../api/client.js';
import { accountsQuery } from '../api/names.js';
import { useAct } from '../ui/act.js';
import { Button } from '../ui/button.js';
import { CheckField, FieldRow, InputField, SelectField } from '../ui/fields.js';
import { FormDialog } from '../ui/form-dialog.js';
import type { FormValues } from '../ui/form-values.js';
import { GUARD_KEY, type Rule } from './guard-queries.js';

const ACTIONS = ['block', 'allow'] as const;
const HOUR_MS = 3_600_000;
/** Hours that a rule lasts; empty for no end. */
const TERMS = [
  ['', 'No end'],
  ['1', '1 hour'],
  ['24', '1 day'],
  ['168', '1 week'],
  ['720', '30 days'],
] as const;
const KINDS = [
  'toll_free',
  'shared_cost',
  'premium_rate',
  'personal_number',
  'non_geographic',
  'uan',
  'pager',
  'voicemail',
] as const satisfies readonly Rule['kinds'][number][];

function draftOf(values: FormValues): Omit<Schemas['DestinationDraft'], 'accountId'> {
  const action = values.choice('action', ACTIONS) ?? 'block';
  const term = values.text('term');
  return {
    prefix: values.text('prefix'),
    action,
    kinds: action === 'allow' ? KINDS.filter((kind) => values.isChecked(kind)) : [],
    reason: values.text('reason'),
    ...(term === 'kept'
      ? {}
      : { until: term === '' ? null : new Date(Date.now() + Number(term) * HOUR_MS).toISOString() }),
  };
}

interface FormProps {
  /** Null for a new one. */
  readonly rule: Rule | null;
  /** The prefix of a new one. */
  readonly prefix?: string | undefined;
  readonly onClose: () => void;
}

function RuleForm({ rule, prefix, onClose }: FormProps): JSX.Element {
  const { mutate, error, isPending } = useAct({
    run: (values: FormValues): Promise<Rule> =>
      rule === null
        ? dataOf(
            api.POST('/v1/admin/destinations', {
              body: { ...draftOf(values), accountId: values.textOrNull('accountId') },
            }),
          )
        : dataOf(
            api.PATCH('/v1/admin/destinations/{id}', { params: { path: { id: rule.id } }, body: draftOf(values) }),
          ),
    done: (saved) => {
      onClose();
      return `The rule for ${saved.prefix} is saved; it takes effect with the next code.`;
    },
    changes: GUARD_KEY,
  });
  return (
    <FormDialog
      title={rule === null ? 'Add a rule' : `Edit the rule for ${rule.prefix}`}
      act={rule === null ? 'Add' : 'Save'}
      lead="The longest prefix decides. An allow rule overrides countries and kinds of numbers, never caps, budgets or a block of the guard."
      error={error}
      isPending={isPending}
      onSubmit={mutate}
      onClose={onClose}
    >
      <RuleFields rule={rule} prefix={prefix} />
    </FormDialog>
  );
}

function RuleFields({ rule, prefix }: Omit<FormProps, 'onClose'>): JSX.Element {
  const { data: accounts = [] } = useQuery(accountsQuery);
  return (
    <>
      <FieldRow>
        <InputField name="prefix" label="Prefix" value={rule?.prefix ?? prefix} placeholder="+4479" isRequired />
        <SelectField
          name="action"
          label="Action"
          value={rule?.action ?? (prefix === undefined ? 'block' : 'allow')}
          choices={[
            ['block', 'Block codes'],
            ['allow', 'Allow codes'],
          ]}
        />
        <SelectField
          name="term"
          label="Ends after"
          value={rule?.until == null ? '' : 'kept'}
          choices={rule?.until == null ? TERMS : [['kept', 'As it is'], ...TERMS]}
        />
      </FieldRow>
      {rule === null && (
        <SelectField
          name="accountId"
          label="Account"
          value=""
          choices={[['', 'All accounts'], ...accounts.map(({ id, name }) => [id, name] as const)]}
        />
      )}
      <InputField name="reason" label="Note" value={rule?.reason} placeholder="pumping, ticket 4711" />
      <fieldset className="choices">
        <legend>Kinds of numbers that an allow rule permits</legend>
        {KINDS.map((kind) => (
          <CheckField
            key={kind}
            name={kind}
            label={kind.replaceAll('_', ' ')}
            isChecked={rule?.kinds.includes(kind) ?? false}
          />
        ))}
      </fieldset>
    </>
  );
}

interface EditProps {
  readonly rule: Rule | null;
  readonly prefix?: string;
  /** The name of the button. */
  readonly name: string;
}

export function EditRule({ rule, prefix, name }: EditProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const about = rule?.prefix ?? prefix;
  return (
    <>
      <Button kind={rule === null && prefix === undefined ? 'solid' : 'quiet'} onPress={() => setOpen(true)}>
        {name}
        {about !== undefined && <span className="visually-hidden"> for {about}</span>}
      </Button>
      {isOpen && <RuleForm rule={rule} prefix={prefix} onClose={() => setOpen(false)} />}
    </>
  );
}
