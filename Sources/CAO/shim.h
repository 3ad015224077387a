#pragma once
#include <ao/ao.h>
