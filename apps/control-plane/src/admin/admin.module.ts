import { AccountStore, PriceStore } from '@countersign/accounts';
import { DestinationStore } from '@countersign/carriers';
import { AuditStore } from '@countersign/events';
import type { ControlPlaneSettings } from '@countersign/settings';
import { type DynamicModule, Module } from '@nestjs/common';
import { BodyConstraints } from '../http/body.pipe.js';
import { StoresModule, type Stores } from '../stores.js';
import { IsWebhookTarget } from '../verify/webhook-target.constraint.js';
import { AccountResource } from './accounts/account.resource.js';
import { AccountsController } from './accounts/accounts.controller.js';
import { AdminDefaults } from './admin-defaults.js';
import { AdminDesk } from './admin-desk.js';
import { AuditController } from './audit/audit.controller.js';
import { BrandResource } from './brands/brand.resource.js';
import { BrandsController } from './brands/brands.controller.js';
import { DestinationResource } from './destinations/destination.resource.js';
import { DestinationsController } from './destinations/destinations.controller.js';
import { KeyResource } from './keys/key.resource.js';
import { KeysController } from './keys/keys.controller.js';
import { PriceResource } from './prices/price.resource.js';
import { PricesController } from './prices/prices.controller.js';

const EVERY_COUNTRY = ['*'];

export interface AdminOptions {
  readonly settings: Readonly<ControlPlaneSettings>;
  readonly stores: Stores;
}

/** What on-call engineers set up and look after. A new resource is a folder here and two names in these lists. */
@Module({})
export class AdminModule {
  static over({ settings, stores }: AdminOptions): DynamicModule {
    const newId = (): string => stores.clock.newId();
    const { production, entropyKeys } = settings;
    const defaults = new AdminDefaults(production ? [] : EVERY_COUNTRY, Math.max(...entropyKeys.keys()));
    return {
      module: AdminModule,
      imports: [StoresModule.of(stores)],
      controllers: [
        AccountsController,
        BrandsController,
        KeysController,
        PricesController,
        DestinationsController,
        AuditController,
      ],
      providers: [
        AdminDesk,
        AccountResource,
        BrandResource,
        KeyResource,
        PriceResource,
        DestinationResource,
        { provide: AccountStore, useValue: new AccountStore({ keys: stores.keys, newId }) },
        { provide: PriceStore, useValue: new PriceStore(newId) },
        { provide: DestinationStore, useValue: new DestinationStore(newId) },
        { provide: AuditStore, useValue: new AuditStore(newId) },
        { provide: AdminDefaults, useValue: defaults },
        { provide: BodyConstraints, useValue: new BodyConstraints([new IsWebhookTarget(stores.targetRules)]) },
      ],
    };
  }
}
