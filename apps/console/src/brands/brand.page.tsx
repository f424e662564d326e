import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { type JSX, useState } from 'react';
import type { OwnBrand } from '../account/account-queries.js';
import { type AccountScope, keyOf, useScope } from '../account/scope.js';
import { api, dataOf, type Schemas } from '../api/client.js';
import { useAct } from '../ui/act.js';
import { Button } from '../ui/button.js';
import { Page, Panel } from '../ui/layout.js';
import { Failure, Loaded } from '../ui/states.js';
import { CopyText } from '../ui/texts.js';
import { Time } from '../ui/time.js';
import type { BrandTexts } from './brand-texts.js';
import { State } from './brands.page.js';
import './brands.css';
import { PhonePreview } from './phone-preview.js';

type Change = Schemas['OwnBrandChange'];

const brandQuery = (scope: AccountScope, id: string) => ({
  queryKey: keyOf(scope, 'brands', id),
  queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
    dataOf(api.GET('/v1/account/brands/{id}', { headers: scope.headers, params: { path: { id } }, signal })),
});

/** A brand: its texts, and a phone that shows them while they are written. */
export function BrandPage(): JSX.Element {
  const scope = useScope();
  const { id = '' } = useParams({ strict: false });
  const query = useQuery(brandQuery(scope, id));
  return (
    <Page
      title={query.data?.name ?? 'Brand'}
      aside={query.data !== undefined && <State of={query.data} />}
      lead={<CopyText text={id} name="the id" />}
      above={
        <Link to="/brands" search={scope.search} className="back-link">
          ← Brands
        </Link>
      }
    >
      <Loaded query={query} what="the brand">
        {(brand) => <Editor key={scope.mode} brand={brand} />}
      </Loaded>
    </Page>
  );
}

type Draft = BrandTexts & { readonly logoUrl: string };

const draftOf = ({ name, slug, instruction, logoUrl, requested }: OwnBrand): Draft => ({
  name: requested?.name ?? name,
  slug: requested?.slug ?? slug,
  instruction,
  logoUrl: logoUrl ?? '',
});

/** The fields that differ. The present name or slug withdraws a request for another. */
function changeOf(before: Draft, { name, slug, instruction, logoUrl }: Draft): Change {
  return {
    ...(name === before.name ? {} : { name }),
    ...(slug === before.slug ? {} : { slug }),
    ...(instruction === before.instruction ? {} : { instruction }),
    ...(logoUrl === before.logoUrl ? {} : { logoUrl: logoUrl === '' ? null : logoUrl }),
  };
}

function Editor({ brand }: { readonly brand: OwnBrand }): JSX.Element {
  const scope = useScope();
  const before = draftOf(brand);
  const [draft, setDraft] = useState(before);
  const change = changeOf(before, draft);
  const { mutate, error, isPending } = useAct({
    run: (body: Change) =>
      dataOf(
        api.PATCH('/v1/account/brands/{id}', { headers: scope.headers, params: { path: { id: brand.id } }, body }),
      ),
    done: ({ requested }, body) =>
      requested !== undefined && (body.name !== undefined || body.slug !== undefined)
        ? 'Saved. The new name or slug waits for an operator’s approval.'
        : 'Saved. It takes effect everywhere within 5 s.',
    changes: keyOf(scope, 'brands'),
  });
  const mayChange = scope.mayChange && scope.mode === 'live';
  const submit = (event: React.SyntheticEvent<HTMLFormElement>): void => {
    event.preventDefault();
    mutate(change);
  };
  return (
    <div className="brand-grid">
      <Panel title="Texts">
        <Waiting brand={brand} />
        {scope.mode === 'test' && (
          <p className="notice" data-tone="warn">
            Brands are the same in both modes, and live sessions show them: switch test mode off to change one.
          </p>
        )}
        <form className="stack" onSubmit={submit}>
          <Fields draft={draft} onChange={setDraft} />
          <p className="soft small">
            Phones load the picture. This page loads nothing from other servers, and shows a letter.
          </p>
          {error !== null && <Failure error={error} />}
          <div className="row">
            <Button type="submit" kind="solid" isDisabled={!mayChange || isPending || Object.keys(change).length === 0}>
              Save
            </Button>
            <Button isDisabled={Object.keys(change).length === 0} onPress={() => setDraft(before)}>
              Undo
            </Button>
          </div>
        </form>
      </Panel>
      <PhonePreview texts={draft} domain={brand.domain} hasLogo={draft.logoUrl !== ''} />
    </div>
  );
}

type FieldsProps = Pick<FieldProps, 'draft' | 'onChange'>;

const Fields = (props: FieldsProps): JSX.Element => (
  <>
    <Field {...props} name="name" label="Name, approved by an operator" max={60} />
    <Field {...props} name="slug" label="Slug, in the SMS; approved by an operator" max={12} />
    <Field {...props} name="instruction" label="Instruction below the token in the SMS" max={160} />
    <Field {...props} name="logoUrl" label="URL of the picture on the card (https)" max={2048} />
  </>
);

function Waiting({ brand: { name, slug, requested, requestRefusedAt } }: { readonly brand: OwnBrand }) {
  if (requested !== undefined)
    return (
      <p className="notice">
        Users still see {name} ({slug}): an operator decides about the change that you see below.
      </p>
    );
  if (requestRefusedAt === undefined) return null;
  return (
    <p className="notice" data-tone="warn">
      An operator refused the last change of the name or slug, <Time at={requestRefusedAt} />.
    </p>
  );
}

interface FieldProps {
  readonly name: keyof Draft;
  readonly label: string;
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly max: number;
}

const Field = ({ name, label, draft, onChange, max }: FieldProps): JSX.Element => (
  <label className="field">
    <span>{label}</span>
    <input
      name={name}
      value={draft[name]}
      maxLength={max}
      spellCheck={name === 'instruction'}
      autoComplete="off"
      onChange={({ target: { value } }) => onChange({ ...draft, [name]: value })}
    />
  </label>
);
