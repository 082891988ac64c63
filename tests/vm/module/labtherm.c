// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A thermal zone whose temperature is what was written last, in millidegrees:
 *
 *	echo 92000 > /sys/module/labtherm/parameters/temperature
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/thermal.h>
#include <linux/version.h>

static int temperature = 45000;
module_param(temperature, int, 0644);
MODULE_PARM_DESC(temperature, "what the zone reports, in millidegrees Celsius");

static struct thermal_zone_device *zone;

static int labtherm_get_temp(struct thermal_zone_device *unused, int *value)
{
	*value = READ_ONCE(temperature);
	return 0;
}

#define PASSIVE_MDEG  85000
#define CRITICAL_MDEG 110000

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 9, 0)
static int labtherm_trip_type(struct thermal_zone_device *unused, int trip,
			      enum thermal_trip_type *type)
{
	*type = trip ? THERMAL_TRIP_CRITICAL : THERMAL_TRIP_PASSIVE;
	return 0;
}

static int labtherm_trip_temp(struct thermal_zone_device *unused, int trip, int *value)
{
	*value = trip ? CRITICAL_MDEG : PASSIVE_MDEG;
	return 0;
}

static struct thermal_zone_device_ops labtherm_ops = {
	.get_temp = labtherm_get_temp,
	.get_trip_type = labtherm_trip_type,
	.get_trip_temp = labtherm_trip_temp,
};

static struct thermal_zone_device *labtherm_register(void)
{
	return thermal_zone_device_register("lab-cpu-thermal", 2, 0, NULL, &labtherm_ops, NULL, 0,
					    1000);
}
#else
static const struct thermal_zone_device_ops labtherm_ops = { .get_temp = labtherm_get_temp };

static const struct thermal_trip labtherm_trips[] = {
	{ .type = THERMAL_TRIP_PASSIVE, .temperature = PASSIVE_MDEG },
	{ .type = THERMAL_TRIP_CRITICAL, .temperature = CRITICAL_MDEG },
};

static struct thermal_zone_device *labtherm_register(void)
{
	return thermal_zone_device_register_with_trips("lab-cpu-thermal", labtherm_trips,
						       ARRAY_SIZE(labtherm_trips), NULL,
						       &labtherm_ops, NULL, 0, 1000);
}
#endif

static int __init labtherm_init(void)
{
	int status;

	zone = labtherm_register();
	if (IS_ERR(zone))
		return PTR_ERR(zone);
	status = thermal_zone_device_enable(zone);
	if (status)
		thermal_zone_device_unregister(zone);
	return status;
}

static void __exit labtherm_exit(void)
{
	thermal_zone_device_unregister(zone);
}

module_init(labtherm_init);
module_exit(labtherm_exit);
MODULE_DESCRIPTION("a thermal zone with a temperature of your choice");
MODULE_LICENSE("GPL");
