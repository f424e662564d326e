import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { type OwnBrand, ownBrandsQuery } from '../account/account-queries.js';
import { type AccountScope, useScope } from '../account/scope.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { Badge, Page } from '../ui/layout.js';
import { Empty, Loaded } from '../ui/states.js';

const columnsFor = ({ search }: AccountScope): readonly Column<OwnBrand>[] => [
  {
    name: 'Name',
    value: ({ name }) => name,
    cell: ({ id, name }) => (
      <Link to="/brands/$id" params={{ id }} search={search}>
        {name}
      </Link>
    ),
  },
  { name: 'Slug', value: ({ slug }) => slug, cell: ({ slug }) => <code>{slug}</code> },
  { name: 'Text of the SMS', cell: ({ instruction }) => instruction },
  { name: 'State', value: stateOf, cell: (brand) => <State of={brand} /> },
];

function stateOf({ active, requested, requestRefusedAt }: OwnBrand): string {
  if (!active) return 'inactive';
  if (requested !== undefined) return 'waits for approval';
  return requestRefusedAt === undefined ? 'active' : 'change refused';
}

const TONES = { inactive: 'quiet', 'waits for approval': 'accent', active: 'good', 'change refused': 'warn' } as const;

/** The state of a brand, in words. */
export const State = ({ of }: { readonly of: OwnBrand }): JSX.Element => {
  const state = stateOf(of);
  return <Badge tone={TONES[state as keyof typeof TONES]}>{state}</Badge>;
};

/** The brands of the account: the names that users see on their phones. */
export function BrandsPage(): JSX.Element {
  const scope = useScope();
  const query = useQuery(ownBrandsQuery(scope));
  return (
    <Page
      title="Brands"
      lead="The names that your users see. Open one to change its texts beside a phone that shows them."
    >
      <Loaded query={query} what="the brands">
        {(brands) =>
          brands.length === 0 ? (
            <div className="table-frame">
              <Empty title="No brand yet">An operator of the installation makes the first one.</Empty>
            </div>
          ) : (
            <DataTable label="brands" columns={columnsFor(scope)} rows={brands} keyOf={({ id }) => id} />
          )
        }
      </Loaded>
    </Page>
  );
}
