import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type JSX, useState } from 'react';
import { api, dataOf, type Schemas } from '../api/client.js';
import { listing } from '../api/cursor.js';
import { brandsQuery } from '../api/names.js';
import { useAct } from '../ui/act.js';
import { Button } from '../ui/button.js';
import type { Column } from '../ui/data-table.js';
import { DeleteButton } from '../ui/delete-button.js';
import { InputField, SelectField } from '../ui/fields.js';
import { FormDialog } from '../ui/form-dialog.js';
import type { FormValues } from '../ui/form-values.js';
import { Page } from '../ui/layout.js';
import { ListingTable } from '../ui/listing-table.js';
import { BrandName } from '../ui/names.js';
import { useIsAtLeast } from '../ui/role.js';
import { Empty } from '../ui/states.js';

type InboundNumber = Schemas['InboundNumberAnswer'];

const numbersQuery = listing(['numbers'], (query, signal) =>
  dataOf(api.GET('/v1/admin/inbound-numbers', { params: { query }, signal })),
);

const PATH = '/v1/admin/inbound-numbers/{id}';

function save(inbound: InboundNumber | null, values: FormValues): Promise<InboundNumber> {
  const body = {
    number: values.text('number'),
    countries: values.list('countries').map((each) => each.toUpperCase()),
    brandId: values.textOrNull('brandId'),
  };
  return inbound === null
    ? dataOf(api.POST('/v1/admin/inbound-numbers', { body }))
    : dataOf(api.PATCH(PATH, { params: { path: { id: inbound.id } }, body }));
}

interface FormProps {
  /** Null for a new one. */
  readonly inbound: InboundNumber | null;
  readonly onClose: () => void;
}

function NumberForm({ inbound, onClose }: FormProps): JSX.Element {
  const { data: brands } = useQuery(brandsQuery);
  const { mutate, error, isPending } = useAct({
    run: (values: FormValues) => save(inbound, values),
    done: ({ number }) => {
      onClose();
      return `${number} is saved; new sessions use it at once.`;
    },
    changes: ['numbers'],
  });
  if (brands === undefined) return <></>;
  return (
    <FormDialog
      title={inbound === null ? 'Add a number' : `Edit ${inbound.number}`}
      act={inbound === null ? 'Add' : 'Save'}
      lead="Phones of these countries are asked to text this number. Sessions that exist keep theirs."
      error={error}
      isPending={isPending}
      onSubmit={mutate}
      onClose={onClose}
    >
      <InputField
        name="number"
        label="Number"
        value={inbound?.number}
        placeholder="+14155550100"
        hint="With its country code, or a short code of 3 to 8 digits."
        isRequired
      />
      <InputField
        name="countries"
        label="Countries"
        value={inbound?.countries.join(', ')}
        placeholder="US, CA"
        hint="Two letters each; * for all countries without a number of their own."
        isRequired
      />
      <SelectField
        name="brandId"
        label="Brand"
        value={inbound?.brandId ?? ''}
        choices={[['', 'Every brand'], ...brands.map(({ id, name }) => [id, name] as const)]}
      />
    </FormDialog>
  );
}

function EditNumber({ inbound }: { readonly inbound: InboundNumber | null }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind={inbound === null ? 'solid' : 'quiet'} onPress={() => setOpen(true)}>
        {inbound === null ? 'Add a number' : 'Edit'}
        {inbound !== null && <span className="visually-hidden"> {inbound.number}</span>}
      </Button>
      {isOpen && <NumberForm inbound={inbound} onClose={() => setOpen(false)} />}
    </>
  );
}

function NumberActs({ inbound }: { readonly inbound: InboundNumber }): JSX.Element | null {
  const { id, number } = inbound;
  const { mutate, isPending } = useAct({
    run: () => dataOf(api.DELETE(PATH, { params: { path: { id } } })),
    done: () => `${number} is deleted.`,
    changes: ['numbers'],
  });
  if (!useIsAtLeast('operator')) return null;
  return (
    <div className="row-acts">
      <EditNumber inbound={inbound} />
      <DeleteButton what={number} isPending={isPending} onDelete={() => mutate()}>
        New sessions of its countries need another number, or are refused.
      </DeleteButton>
    </div>
  );
}

const COLUMNS: readonly Column<InboundNumber>[] = [
  {
    name: 'Number',
    value: ({ number }) => number,
    cell: ({ number }) => (
      <>
        <strong className="mono">{number}</strong>{' '}
        {!number.startsWith('+') && <span className="soft small">short code</span>}
      </>
    ),
  },
  {
    name: 'Countries',
    value: ({ countries }) => countries.join(),
    cell: ({ countries }) => (countries.includes('*') ? 'all others' : countries.join(', ')),
  },
  {
    name: 'Brand',
    cell: ({ brandId }) => (brandId === null ? <span className="soft">every brand</span> : <BrandName id={brandId} />),
  },
  { name: 'Actions', align: 'end', cell: (inbound) => <NumberActs inbound={inbound} /> },
];

export function NumbersPage(): JSX.Element {
  const query = useInfiniteQuery(numbersQuery);
  const mayChange = useIsAtLeast('operator');
  return (
    <Page
      title="Numbers"
      lead="The numbers to which phones send their SMS, by country. A country without a number of its own uses the number for all others."
      actions={mayChange && <EditNumber inbound={null} />}
    >
      <ListingTable
        query={query}
        what="numbers"
        columns={COLUMNS}
        keyOf={({ id }) => id}
        loadsItself
        empty={
          <Empty title="There is no number yet">
            No session can be created. Add the number that your carrier gave you; * serves every country.
          </Empty>
        }
      />
    </Page>
  );
}
