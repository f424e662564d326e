import { api, dataOf, type Schemas } from '../api/client.js';
import { listing } from '../api/cursor.js';

export type System = Schemas['SmppSystemAnswer'];
export type SystemConnection = Schemas['SystemConnectionAnswer'];

export const systemsQuery = listing(
  ['systems'],
  (query, signal) => dataOf(api.GET('/v1/admin/smpp-systems', { params: { query }, signal })),
  true,
);

const pathOf = (id: string) => ({ params: { path: { id } } });

export const createSystem = (body: Schemas['SmppSystemDraft']): Promise<System> =>
  dataOf(api.POST('/v1/admin/smpp-systems', { body }));
export const updateSystem = (id: string, body: Schemas['SmppSystemChange']): Promise<System> =>
  dataOf(api.PATCH('/v1/admin/smpp-systems/{id}', { ...pathOf(id), body }));
export const rotatePassword = (id: string): Promise<System> =>
  dataOf(api.POST('/v1/admin/smpp-systems/{id}/rotate', pathOf(id)));
export const deleteSystem = (id: string): Promise<unknown> =>
  dataOf(api.DELETE('/v1/admin/smpp-systems/{id}', pathOf(id)));
