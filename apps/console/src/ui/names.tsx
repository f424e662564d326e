import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { accountsQuery, brandsQuery } from '../api/names.js';

/** The name of an account, or its id while the names are read. */
export function AccountName({ id }: { readonly id: string }): JSX.Element {
  const { data = [] } = useQuery(accountsQuery);
  return <span title={id}>{data.find((each) => each.id === id)?.name ?? id}</span>;
}

export function BrandName({ id }: { readonly id: string }): JSX.Element {
  const { data = [] } = useQuery(brandsQuery);
  return <span title={id}>{data.find((each) => each.id === id)?.name ?? id}</span>;
}
