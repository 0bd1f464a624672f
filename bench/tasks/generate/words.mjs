const list = (text) => text.trim().split(/\s+/);

export const NAMES = list(`
  anchor apple atlas badge bakery basket beacon billing bottle branch bridge bucket button cabin camera candle
  canvas carbon castle cedar cellar chapel cherry circle clinic cloud clover coffee copper corner cotton cradle
  crystal dairy delta desert dinner dragon engine fabric falcon feather fern ferry filter flower forest fountain
  garden garlic ginger glacier granite guitar hammer harbor hazel helmet honey island jacket jungle kernel kettle
  ladder lantern laundry leather lemon library locker magnet mango maple marble market meadow mirror mitten museum
  needle nickel orchard oven paddle palace panel parcel pepper pigeon pillow planet pocket puzzle rabbit radio
  ribbon river rocket saddle salmon school shelter shovel signal silver spider spring stable statue summer tablet
  temple ticket timber tunnel turtle valley velvet violin wagon walnut window winter`);

export const PEOPLE = list(`
  amina boris carla daniel elena felix grace hassan irene jonas karin lucas maria nadia oscar paula rachel samuel
  teresa ursula victor wanda yusuf zoe adam bella colin diana edwin fiona george helen ivan julia kevin laura`);

export const COLUMNS = list(`
  amount city color height weight region price depth width speed grade rank brand model volume score
  country street level length origin shape season team floor phone size title source target weekday author budget
  channel distance energy format group humidity`);
